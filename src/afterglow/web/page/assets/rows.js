// A list of which only the rows in sight are on the page, so that a hundred thousand are as quick as ten.
//
// Rows may differ in height: each is guessed first and measured once it is shown. What is in sight does not move when rows
// above it turn out taller or lower than guessed.

import { h } from "./dom.js";

const BEYOND = 400; // pixels above and below what is in sight that are ready before they are scrolled to

export class Rows {
  /** `draw(index)` gives the row; `near(first, last)` is told what is about to be seen; `guess` is a row's height. */
  constructor({ draw, near = () => {}, guess = 56, label }) {
    this.draw = draw;
    this.near = near;
    this.guess = guess;
    this.length = 0;
    this.chosen = -1;
    this.heights = [];
    this.tops = [0];
    this.shown = new Map();
    this.inner = h("div", { class: "rows-inner", role: "list", "aria-label": label });
    this.node = h("div", { class: "rows", tabIndex: -1 }, this.inner);
    this.waiting = 0;
    this.node.addEventListener("scroll", () => this.soon(), { passive: true });
    new ResizeObserver(() => this.layout()).observe(this.node);
  }

  /** There are so many rows now; those before stay as they are. */
  grow(length) {
    this.length = length;
    this.layout();
  }

  /** Draw anew what is in sight: all of it, or these. */
  redraw(which = () => true) {
    for (const [index, row] of this.shown) {
      if (!which(index)) continue;
      const focused = row.contains(document.activeElement);
      row.remove();
      this.shown.delete(index);
      if (focused) this.refocus = index;
    }
    this.layout();
  }

  soon() {
    this.waiting ||= requestAnimationFrame(() => { this.waiting = 0; this.layout(); });
  }

  layout() {
    if (!this.node.isConnected) return;
    this.place();
    for (let pass = 0; pass < 3; pass += 1) {
      const [first, last] = this.window();
      this.draws(first, last);
      if (!this.measure(first, last)) break;
    }
    if (this.length) this.near(...this.window());
  }

  place() {
    for (let index = this.tops.length - 1; index < this.length; index += 1) this.tops[index + 1] = this.tops[index] + this.high(index);
    this.tops.length = this.length + 1;
    this.inner.style.height = `${this.tops[this.length]}px`;
  }

  high(index) {
    return this.heights[index] ?? this.guess;
  }

  window() {
    const top = this.node.scrollTop - BEYOND;
    const bottom = this.node.scrollTop + this.node.clientHeight + BEYOND;
    return [this.at(top), Math.min(this.length - 1, this.at(bottom))];
  }

  /** The row at so many pixels from the top. */
  at(pixels) {
    let low = 0;
    let high = Math.max(0, this.length - 1);
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= pixels) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  draws(first, last) {
    for (const [index, row] of this.shown) {
      if (index >= first && index <= last) continue;
      row.remove();
      this.shown.delete(index);
    }
    let after = null;
    for (let index = last; index >= first && this.length; index -= 1) {
      const row = this.shown.get(index) ?? this.drawn(index);
      if (row.nextSibling !== after || row.parentNode !== this.inner) this.inner.insertBefore(row, after);
      row.style.transform = `translateY(${this.tops[index]}px)`;
      after = row;
    }
  }

  drawn(index) {
    const row = h("div", { class: "row", role: "listitem", "aria-setsize": this.length, "aria-posinset": index + 1 }, this.draw(index));
    row.classList.toggle("chosen", index === this.chosen);
    this.shown.set(index, row);
    if (this.refocus === index) {
      this.refocus = null;
      queueMicrotask(() => target(row).focus({ preventScroll: true }));
    }
    return row;
  }

  /** Take the true heights; whether any was another than thought. */
  measure(first, last) {
    let from = null;
    let shift = 0;
    const anchor = this.at(this.node.scrollTop);
    for (let index = first; index <= last && this.length; index += 1) {
      const height = this.shown.get(index).offsetHeight;
      if (height === this.heights[index]) continue;
      if (index < anchor) shift += height - this.high(index);
      if (height !== this.high(index)) from ??= index;
      this.heights[index] = height;
    }
    if (from === null) return false;
    this.tops.length = from + 1;
    this.place();
    if (shift) this.node.scrollTop += shift;
    return true;
  }

  /** Bring a row into sight: at the top, or as little as is needed. */
  reveal(index, how = "nearest") {
    if (!this.length) return;
    const wanted = Math.max(0, Math.min(this.length - 1, index));
    for (let pass = 0; pass < 3; pass += 1) {
      const [top, bottom] = [this.tops[wanted], this.tops[wanted + 1]];
      const [from, height] = [this.node.scrollTop, this.node.clientHeight];
      if (how === "top") this.node.scrollTop = top;
      else if (top < from) this.node.scrollTop = top;
      else if (bottom > from + height) this.node.scrollTop = Math.min(top, bottom - height);
      this.layout();
    }
  }

  /** Choose a row, and give it the focus. */
  choose(index, { focus = true } = {}) {
    if (!this.length) return;
    this.chosen = Math.max(0, Math.min(this.length - 1, index));
    this.reveal(this.chosen);
    for (const [each, row] of this.shown) row.classList.toggle("chosen", each === this.chosen);
    if (focus) target(this.shown.get(this.chosen)).focus({ preventScroll: true });
  }

  step(by) {
    this.choose(this.chosen < 0 ? this.at(this.node.scrollTop) : this.chosen + by);
  }
}

/** What stands in the rows in sight, each with its index. */
export const inSight = (rows) => [...rows.shown].map(([index, row]) => [index, row.firstChild]);

const target = (row) => row.querySelector("a, button") ?? row;
