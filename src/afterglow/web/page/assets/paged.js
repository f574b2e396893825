// A list that is asked for page by page, each behind the last by its key, while somebody scrolls towards its end.

import { h, put } from "./dom.js";
import { trouble } from "./parts.js";
import { Rows } from "./rows.js";

export const PAGE = 100;
const AT_TOP = 300; // pixels from the top within which somebody still looks at what is newest

/** What was loaded so far, and where it goes on. */
export class Pages {
  constructor(ask) {
    this.ask = ask;
    this.items = [];
    this.next = undefined;
    this.running = null;
  }

  get complete() {
    return this.next === null;
  }

  /** Ask for the page after the last one, once at a time. */
  more() {
    if (this.complete) return Promise.resolve();
    this.running ??= this.ask(this.next).then(({ items, next }) => {
      this.items.push(...items);
      this.next = next ?? null;
    }).finally(() => { this.running = null; });
    return this.running;
  }
}

/** The list on the page: `ask(after)` gives a page, `line(item)` a row, `nothing()` what is said of an empty one. */
export class Paged {
  constructor({ ask, line, nothing, guess, label, signal }) {
    Object.assign(this, { ask, nothing, signal });
    this.pages = new Pages(ask);
    this.rows = new Rows({ draw: (index) => line(this.pages.items[index]), near: (first, last) => this.near(last), guess, label });
    this.foot = h("div", { class: "list-foot" });
    this.node = h("div", { class: "paged" }, this.rows.node, this.foot);
  }

  async near(last) {
    if (last > this.pages.items.length - PAGE / 2 && !this.pages.complete && !this.pages.running) await this.more();
  }

  async more() {
    const { pages } = this;
    try {
      await pages.more();
      if (pages === this.pages) this.draw();
    } catch (error) {
      const told = trouble(error, () => this.more());
      if (!told || pages !== this.pages) return;
      this.rows.node.hidden = !pages.items.length; // or what went wrong would stand below an empty place
      put(this.foot, told);
    }
  }

  draw() {
    const { complete, items } = this.pages;
    const none = complete && !items.length;
    this.rows.node.hidden = none;
    this.rows.grow(items.length);
    put(this.foot, none && this.nothing());
  }

  /** Something else is asked for: begin anew. */
  async restart() {
    this.show(new Pages(this.ask));
    this.rows.chosen = -1;
    this.rows.node.scrollTop = 0;
    await this.more();
  }

  /** Something has happened: look at the first page again, unless somebody is further down. */
  renew() {
    this.later ??= setTimeout(async () => {
      this.later = null;
      const fresh = new Pages(this.ask);
      if (this.away()) return;
      await fresh.more().catch(() => {});
      if (!this.away() && fresh.next !== undefined) this.show(fresh);
    }, 800);
  }

  away() {
    return this.signal.aborted || this.rows.node.scrollTop > AT_TOP;
  }

  show(pages) {
    this.pages = pages;
    this.rows.grow(pages.items.length);
    this.rows.redraw();
    if (pages.next !== undefined) this.draw();
  }
}
