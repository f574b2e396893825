// The only way anything gets onto the page: text as text, attributes by name. Nothing here, or anywhere in the page,
// parses HTML, so whatever people, models or tools wrote stays letters.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "hidden", "open", "tabIndex"]);
const ATTRIBUTES = /^(?:class|id|for|type|name|role|title|lang|dir|rows|min|max|step|placeholder|autocomplete|datetime|scope|colspan|maxlength|enterkeyhint|spellcheck|d|x|y|x1|x2|y1|y2|rx|width|height|viewBox|points|aria-[a-z]+|data-[a-z-]+)$/;

/** An element: `h("a", {href: "#/"}, "text", child)`. `on` holds listeners, `vars` custom properties for the styles. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** The same for a picture. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** Somebody's words: their direction is their own, and does not reach beyond them. */
export function words(text, attributes = {}) {
  return h("bdi", attributes, text);
}

/** Put these in place of all that a node holds. */
export function put(node, ...children) {
  node.replaceChildren(...flat(children));
  return node;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (name === "vars") for (const [key, text] of Object.entries(value)) node.style.setProperty(key, String(text));
    else if (name === "href") node.setAttribute("href", inside(String(value)));
    else if (PROPERTIES.has(name)) node[name] = value;
    else if (ATTRIBUTES.test(name)) node.setAttribute(name, value === true ? "" : String(value));
    else throw new Error(`the page does not set the attribute ${name}`);
  }
  node.append(...flat(children));
  return node;
}

function inside(address) {
  if (!address.startsWith("#/")) throw new Error("links of the page stay on the page");
  return address;
}

function flat(children) {
  return children.flat(Infinity).filter((each) => each !== null && each !== undefined && each !== false && each !== "")
    .map((each) => (each instanceof Node ? each : String(each)));
}
