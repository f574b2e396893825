// Light, dark, or as the system has it.

const CHOICES = ["system", "light", "dark"];
const SIGNS = { system: "◐", light: "○", dark: "●" };

export const chosen = () => {
  const kept = recalled();
  return CHOICES.includes(kept) ? kept : "system";
};

export function apply(choice = chosen()) {
  document.documentElement.dataset.theme = choice;
  const button = document.getElementById("theme");
  if (!button) return;
  button.textContent = SIGNS[choice];
  button.setAttribute("aria-label", `Colours: ${choice}`);
}

export function next() {
  const choice = CHOICES[(CHOICES.indexOf(chosen()) + 1) % CHOICES.length];
  try {
    localStorage.setItem("afterglow.theme", choice);
  } catch {
    // a browser that keeps nothing still shows what was chosen, until it is closed
  }
  apply(choice);
  return choice;
}

function recalled() {
  try {
    return localStorage.getItem("afterglow.theme");
  } catch {
    return null;
  }
}

