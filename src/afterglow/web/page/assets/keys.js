// The keyboard: single keys, and `g` followed by a letter. Keys are left alone where somebody types.

const PAUSE = 1200;

export const HELP = [
  ["/", "search, or narrow the list"],
  ["j  k", "next and previous in the list"],
  ["Enter", "open what is chosen"],
  ["Esc", "leave the field, or go back"],
  ["←  →", "in a session: the turn before, the turn after"],
  ["[  ]", "in a session: the block before, the block after"],
  ["g o", "overview"],
  ["g s", "sessions"],
  ["g q", "search"],
  ["g f", "facts"],
  ["g d", "digests"],
  ["g l", "goal log"],
  ["g c", "chat"],
  ["t", "light, dark, or as the system has it"],
  ["?", "this help"],
];

const typing = (node) => node.matches?.("input:not([type=range]):not([type=checkbox]), textarea, select, [contenteditable]");

/** Listen: `single(key, event)` and `jump(letter)` answer whether they took the key. */
export function listen(single, jump) {
  let since = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (typing(event.target)) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    const jumps = event.timeStamp - since < PAUSE && since > 0;
    since = !jumps && event.key === "g" ? event.timeStamp : 0;
    const taken = jumps ? jump(event.key) : event.key !== "g" && single(event.key, event);
    if (taken) event.preventDefault();
  });
}
