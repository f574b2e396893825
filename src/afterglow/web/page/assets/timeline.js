// The picture of a session: its turns from left to right, over them the blocks by level, and a slider through the turns.
//
// A block that was before the model at the chosen turn is filled; one that others took the place of, or that was not made
// yet, is an outline. Sliding only changes classes, so it stays smooth with hundreds of blocks.

import { h, put, svg } from "./dom.js";
import { count, plural } from "./format.js";

const ROW = 18;
const GAP = 3;
const AXIS = 22;

export const level = (value) => `level-${Math.min(value, 4)}`;

/** Whether the model saw this block when the turn was the newest; with `now`, whether it sees it in what comes next. */
const seenAt = (block, at, now) => (now ? block.shown_until === null : block.shown_from <= at && (block.shown_until === null || at < block.shown_until));

export class Timeline {
  constructor({ slide, pick }) {
    this.pick = pick;
    this.picture = svg("svg", { class: "timeline-picture", role: "img" });
    this.slider = h("input", { type: "range", min: "1", step: "1", class: "slider", "aria-label": "What the model saw at turn", on: { input: () => slide(Number(this.slider.value)) } });
    this.node = h("div", { class: "timeline" }, h("div", { class: "timeline-area" }, this.picture, this.slider));
    this.turns = 0;
    this.blocks = [];
    new ResizeObserver(() => this.draw()).observe(this.node);
  }

  show(turns, blocks) {
    this.turns = turns;
    this.blocks = blocks;
    this.slider.max = String(Math.max(1, turns));
    this.drawn = 0;
    this.draw();
  }

  /** The left edge of a turn, in pixels. */
  x(seq) {
    return ((seq - 1) / Math.max(1, this.turns)) * this.width;
  }

  draw() {
    this.width = this.picture.clientWidth;
    if (!this.turns || !this.width || this.drawn === this.width) return;
    this.drawn = this.width;
    const levels = Math.max(0, ...this.blocks.map((each) => each.level + 1));
    const height = levels * (ROW + GAP) + AXIS;
    this.picture.setAttribute("viewBox", `0 0 ${this.width} ${height}`);
    this.picture.setAttribute("height", height);
    this.picture.setAttribute("aria-label", `${plural(this.turns, "turn")} with ${plural(this.blocks.length, "block")} on ${plural(levels, "level")}`);
    this.shapes = this.blocks.map((block) => [block, this.shape(block, levels)]);
    this.line = svg("line", { class: "timeline-now", y1: "0", y2: String(height) });
    this.tail = svg("rect", { class: "timeline-tail", y: String(height - AXIS + 2), height: "5", rx: "2" });
    put(this.picture, this.shapes.map(([, shape]) => shape), this.axis(height), this.tail, this.line);
    this.move(this.at ?? this.turns, this.first);
  }

  shape(block, levels) {
    const left = this.x(block.first_seq);
    const wide = Math.max(2, this.x(block.last_seq + 1) - left - 1);
    const y = (levels - 1 - block.level) * (ROW + GAP);
    const label = wide > 64 ? `${block.first_seq}–${block.last_seq}` : "";
    return svg("g", { class: `block ${level(block.level)}`, "data-block": block.number, on: { click: () => this.pick(block.number) } },
      svg("title", {}, `Block ${block.number}, level ${block.level}: turns ${block.first_seq} to ${block.last_seq}, ${count(block.span_tokens)} → ${count(block.tokens)} tokens`),
      svg("rect", { x: left.toFixed(1), y: String(y), width: wide.toFixed(1), height: String(ROW), rx: "3" }),
      label && svg("text", { x: (left + wide / 2).toFixed(1), y: String(y + 13) }, label));
  }

  axis(height) {
    const base = height - AXIS + 4.5;
    const every = step(this.turns, this.width / 70);
    const marks = [];
    for (let seq = every; seq <= this.turns; seq += every) marks.push(seq);
    return [
      svg("line", { class: "timeline-axis", x1: "0", x2: String(this.width), y1: String(base), y2: String(base) }),
      marks.filter((seq) => this.x(seq) < this.width - 14).map((seq) => svg("text", { class: "timeline-mark", x: this.x(seq + 0.5).toFixed(1), y: String(height - 2) }, count(seq))),
    ];
  }

  /** The model's view at this turn: the blocks it saw, and the tail from `first` on. */
  move(at, first = null) {
    this.at = at;
    this.first = first;
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", `turn ${at} of ${this.turns}`);
    if (!this.shapes) return;
    const folded = this.shapes.reduce((most, [block, shape]) => {
      const seen = seenAt(block, at, at === this.turns);
      shape.classList.toggle("seen", seen);
      return seen ? Math.max(most, block.last_seq) : most;
    }, 0);
    const left = this.x(first ?? folded + 1);
    const x = this.x(at + 1);
    this.line.setAttribute("x1", x.toFixed(1));
    this.line.setAttribute("x2", x.toFixed(1));
    this.tail.setAttribute("x", left.toFixed(1));
    this.tail.setAttribute("width", Math.max(2, x - left).toFixed(1));
  }

  choose(number) {
    for (const [block, shape] of this.shapes ?? []) shape.classList.toggle("chosen", block.number === number);
  }
}

/** A round distance between marks, so that no more than so many fit. */
function step(turns, most) {
  for (let power = 1; ; power *= 10) for (const each of [1, 2, 5]) if (turns / (each * power) <= most) return each * power;
}
