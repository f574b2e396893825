// What happens on the server, heard once for all tabs.
//
// A browser keeps six connections to a server, and a stream takes one for as long as it lives: six tabs with a stream each would
// leave none for anything else. So one of the tabs in sight has the stream, by a lock that passes on by itself when that tab
// goes, and tells the others. A tab out of sight lets go of it, since a browser may put such a tab to sleep.

import * as api from "./api.js";

const NAME = "happenings";
const FIRST_MS = 2000;
const MOST_MS = 60_000;

export class Live {
  /** `heard` is told each thing that happens, `changed` whether it is told of it at all. */
  constructor(heard, changed) {
    Object.assign(this, { changed, leads: false, live: null, last: null, sight: null, cut: null, wake: null });
    this.heard = (happening) => queueMicrotask(() => heard(happening)); // a view that fails does not break off the stream
    this.locks = navigator.locks; // there are none over plain HTTP from another machine: there each tab has a stream of its own
    this.channel = this.locks ? new BroadcastChannel(NAME) : null;
    this.channel?.addEventListener("message", ({ data }) => this.took(data));
    document.addEventListener("visibilitychange", () => this.seen());
  }

  /** Begin to listen. */
  look() {
    this.channel?.postMessage({ kind: "asks" });
    if (document.hidden || (this.sight && !this.sight.signal.aborted)) return;
    this.sight = new AbortController();
    this.take(this.sight.signal);
  }

  /** Somebody has signed in, perhaps as another: all tabs look at all anew, by a stream of theirs. */
  anew() {
    this.channel?.postMessage({ kind: "anew" });
    this.begin();
  }

  begin() {
    this.last = null;
    this.cut?.abort();
    this.wake?.();
  }

  seen() {
    if (document.hidden) return this.sight?.abort();
    if (this.last === null) this.heard({ kind: "reset" }); // it was opened out of sight, and nobody has told it anything since
    return this.look();
  }

  async take(signal) {
    try {
      await (this.locks ? this.locks.request(NAME, { signal }, () => this.lead(signal)) : this.lead(signal));
    } catch (error) {
      if (error.name !== "AbortError") throw error; // it went out of sight before its turn came
    }
  }

  /** Hear, and tell, until this tab goes out of sight. Whatever breaks the stream off, it is tried again, less and less often. */
  async lead(signal) {
    this.leads = true;
    let wait = FIRST_MS;
    while (!signal.aborted) {
      const cut = this.cut = new AbortController();
      const opened = () => { wait = FIRST_MS; this.say({ kind: "live", live: true }); };
      try {
        for await (const { event, id, data } of api.events(this.last, AbortSignal.any([signal, cut.signal]), opened)) this.say({ kind: event, id: Number(id), data });
      } catch {
        // refused, unreachable, or let go of: what follows is the same
      }
      if (signal.aborted || cut.signal.aborted) continue;
      this.say({ kind: "live", live: false });
      await this.pause(wait, signal);
      wait = Math.min(2 * wait, MOST_MS);
    }
    this.leads = false;
  }

  /** Wait so long, or until somebody looks at a tab. */
  pause(milliseconds, signal) {
    return new Promise((done) => {
      this.wake = done;
      setTimeout(done, milliseconds);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  say(message) {
    this.channel?.postMessage(message);
    this.took(message);
  }

  /** What this tab heard, or was told by another. */
  took({ kind, id, data, live, last }) {
    if (kind === "asks") this.answer();
    else if (kind === "anew") { this.begin(); this.heard({ kind: "reset" }); }
    else if (kind === "live") { this.last ??= last ?? null; this.changed(this.live = live); }
    else {
      const missed = kind === "reset" || (kind === "begun" && this.last !== null && this.last < id); // before another tab began
      this.last = kind === "happened" ? Math.max(this.last ?? 0, id) : id; // what becomes visible late has a smaller number
      if (missed) this.heard({ kind: "reset" });
      if (kind === "happened") this.heard(data);
    }
  }

  /** Another tab asks how it stands. Where it stands badly, that is a reason to try again now. */
  answer() {
    if (!this.leads || this.live === null) return;
    this.channel.postMessage({ kind: "live", live: this.live, last: this.last });
    this.wake?.();
  }
}
