/** Parts of a document that its visitor should fill in, answer or overlook; the fields are those of the observations of the same names. */
export type PageParts = {
  forms: { fields: string[]; action_url: string; text: string }[];
  boxes: { text: string; buttons: string[] }[];
  prices: { text: string; font_px: number; contrast: number; in_page: boolean }[];
  preselected: string[];
};
export type PartLimits = {
  nodes: number;
  forms: number;
  boxes: number;
  prices: number;
  preselected: number;
  url: number;
};

/**
 * Runs in the page, in a world of its own: what a document, open shadow roots included, asks for, shows as boxes with buttons, names as
 * prices, and has ticked. Properties are read through prototypes: named elements of a page shadow those of its forms and document.
 */
export function readParts(limits: PartLimits): PageParts {
  const FIELDS: [string, RegExp][] = [
    ['password', /^password /],
    ['card_number', /cc-number|card.?num|cardno|\bcc.?num|card number|kartennummer|num.ro de (la )?(carte|tarjeta)/],
    ['card_code', /cc-csc|\bcv[vc]2?\b|security.?code|card.?code|pr.fziffer/],
    ['one_time_code', /one-time-code|\botp\b|one.?time|sms.?code|\b2fa\b/],
    ['seed_phrase', /mnemonic|seed.?(phrase|word)|(recovery|secret).?phrase|private.?key/],
    ['personal_id', /\bssn\b|social.?security|passport|national.?id|\bcpf\b|\bdni\b/],
    ['phone', /^tel |\btel\b|phone|mobile|msisdn|handynummer|celular|telefon/],
  ];
  const MONEY =
    /[€$£¥₹₽₺₩₴฿₫₦]|\b(?:EUR|USD|GBP|CHF|PLN|INR|BRL|ZAR|AED|SAR|QAR|EGP|NGN|KES|TRY|RUB|SEK|NOK|DKK|CZK|HUF|RON|MXN)\b|\d\s?(?:zł|Kč|kr|руб)/;
  const [WORDS_MAX, LOOKED_UP_MAX, SIBLINGS_MAX, LOW_CONTRAST] = [300, 6, 20, 2];
  const PICTURES = new Set(['img', 'picture', 'video', 'canvas', 'svg']);
  const parts: PageParts = { forms: [], boxes: [], prices: [], preselected: [] };
  const get = (owner: { prototype: object }, name: string, self: object) => Reflect.get(owner.prototype, name, self);
  const parentOf = (node: Node): Element | null => get(Node, 'parentElement', node);
  const boxOf = (element: Element): DOMRect => Element.prototype.getBoundingClientRect.call(element);
  const textOf = (element: Element, length: number): string => {
    const text =
      element instanceof HTMLElement ? get(HTMLElement, 'innerText', element) : get(Node, 'textContent', element);
    return String(text)
      .replace(/[^\S\n]+/g, ' ')
      .trim()
      .slice(0, length);
  };
  const isSeen = (element: Element): boolean => {
    const { width, height } = boxOf(element);
    return width > 0 && height > 0 && Element.prototype.checkVisibility.call(element, { visibilityProperty: true });
  };
  const kindOf = (field: Element) => (field instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement);
  const labelOf = (field: Element): string => {
    const [label] = get(kindOf(field), 'labels', field) ?? [];
    return label ? textOf(label, WORDS_MAX) : '';
  };

  const forms = new Map<HTMLFormElement | null, Set<string>>();
  const addField = (field: Element) => {
    const about = ['type', 'autocomplete', 'name', 'id', 'placeholder', 'aria-label'].map(
      (name) => Element.prototype.getAttribute.call(field, name) ?? '',
    );
    const words = `${about.join(' ')} ${labelOf(field)}`.toLowerCase().slice(0, WORDS_MAX);
    const kind = FIELDS.find(([, pattern]) => pattern.test(words))?.[0];
    if (!kind || !isSeen(field)) return;
    const form = get(kindOf(field), 'form', field);
    forms.set(form, (forms.get(form) ?? new Set()).add(kind));
  };
  const look = (element: Element) => {
    if (element instanceof HTMLTextAreaElement) addField(element);
    if (!(element instanceof HTMLInputElement)) return;
    const type = get(HTMLInputElement, 'type', element);
    if (type !== 'checkbox') addField(element);
    else if (get(HTMLInputElement, 'checked', element) && parts.preselected.length < limits.preselected) {
      const parent = parentOf(element);
      const label = labelOf(element) || (parent ? textOf(parent, WORDS_MAX) : '');
      if (label && isSeen(parent ?? element)) parts.preselected.push(label);
    }
  };

  const rgb = (color: string): number[] => (color.startsWith('rgb') ? (color.match(/[\d.]+/g) ?? []).map(Number) : []);
  const luminance = ([r = 0, g = 0, b = 0]: number[]): number => {
    const linear = (value: number) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  };
  /** Whether something else than an element around it is painted behind `rect`: a picture, or a box with a colour. */
  const isUpon = (element: Element, { left, top, right, bottom }: DOMRect): boolean => {
    let branch = element;
    for (let at = parentOf(element), step = 0; at && step < LOOKED_UP_MAX * 2; at = parentOf(at), step++) {
      for (const child of [...(get(Element, 'children', at) as HTMLCollection)].slice(0, SIBLINGS_MAX)) {
        if (child === branch) continue;
        const box = boxOf(child);
        if (box.left > left + 1 || box.top > top + 1 || box.right < right - 1 || box.bottom < bottom - 1) continue;
        const { backgroundImage, backgroundColor } = getComputedStyle(child);
        if (PICTURES.has(child.localName) || backgroundImage !== 'none' || (rgb(backgroundColor)[3] ?? 1) > 0.5)
          return true;
      }
      branch = at;
    }
    return false;
  };
  /** The contrast of an element's letters; what shines through has less. 21 where what is behind them is not known. */
  const contrastOf = (element: Element): number => {
    const own = getComputedStyle(element);
    const color = rgb(own.color);
    if (color.length < 3 || own.backgroundClip.includes('text')) return 21;
    let opacity = color[3] ?? 1;
    let behind: number[] | null = null;
    for (let at: Element | null = element; at; at = parentOf(at)) {
      const style = getComputedStyle(at);
      opacity *= Number(style.opacity);
      if (behind) continue;
      if (style.backgroundImage !== 'none') return opacity < 0.1 ? 1 : 21;
      const background = rgb(style.backgroundColor);
      if (background.length >= 3 && (background[3] ?? 1) > 0.5) behind = background;
    }
    const paper = behind ?? [255, 255, 255];
    const mixed = paper.map((value, index) => value + ((color[index] ?? 0) - value) * opacity);
    const [a, b] = [luminance(mixed), luminance(paper)].sort((x, y) => y - x) as [number, number];
    const contrast = Math.min(21, Math.max(1, (a + 0.05) / (b + 0.05)));
    return contrast < LOW_CONTRAST && opacity >= 0.1 && isUpon(element, boxOf(element)) ? 21 : contrast;
  };
  const priced = new Set<Element>();
  const addPrice = (node: Node) => {
    const own = parentOf(node);
    if (!own || parts.prices.length >= limits.prices) return;
    let block = own;
    for (let step = 0; step < LOOKED_UP_MAX && getComputedStyle(block).display.startsWith('inline'); step++)
      block = parentOf(block) ?? block;
    const text = textOf(block, WORDS_MAX);
    if (priced.has(block) || !/\d/.test(text) || !isSeen(own)) return;
    priced.add(block);
    const { right, bottom, width, height } = boxOf(own);
    const in_page = right + scrollX > 0 && bottom + scrollY > 0 && width > 2 && height > 2;
    parts.prices.push({
      text,
      font_px: Math.min(10_000, Number.parseFloat(getComputedStyle(own).fontSize) || 0),
      contrast: contrastOf(own),
      in_page,
    });
  };

  let nodes = 0;
  const walk = (root: Node) => {
    const walker = Document.prototype.createTreeWalker.call(
      document,
      root,
      NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT,
    );
    for (let node = walker.nextNode(); node && nodes < limits.nodes; node = walker.nextNode()) {
      nodes += 1;
      if (node.nodeType === Node.TEXT_NODE) {
        if (MONEY.test((node.nodeValue ?? '').slice(0, 2_000))) addPrice(node);
        continue;
      }
      look(node as Element);
      const { shadowRoot } = node as Element;
      if (shadowRoot) walk(shadowRoot);
    }
  };

  const BUTTONS = 'button, a[href], [role=button], [onclick], input[type=button], input[type=submit]';
  const buttonsIn = (element: Element): string[] =>
    [...Element.prototype.querySelectorAll.call(element, BUTTONS)]
      .slice(0, 20)
      .flatMap((button) => {
        const text =
          button instanceof HTMLInputElement ? String(get(HTMLInputElement, 'value', button)) : textOf(button, 60);
        return text && isSeen(button) ? [text.slice(0, 60)] : [];
      })
      .slice(0, 5);
  /** The largest box around a point that has buttons, says little, and leaves something of the view free. */
  const boxAt = (x: number, y: number): { element: Element; text: string; buttons: string[] } | null => {
    let found = null;
    let at: Element | null = Document.prototype.elementFromPoint.call(document, x, y);
    for (let step = 0; at && step < 12; step++, at = parentOf(at)) {
      const { width, height } = boxOf(at);
      if (width < 120 || height < 60 || (window.parent === window && width * height > innerWidth * innerHeight * 0.85))
        continue;
      const text = textOf(at, 700);
      if (text.length > 600) break;
      const buttons = text ? buttonsIn(at) : [];
      if (buttons.length > 0) found = { element: at, text, buttons };
    }
    return found;
  };
  const boxed = new Set<Element>();
  const POINTS = [
    [0.5, 0.5],
    [0.5, 0.3],
    [0.5, 0.15],
    [0.15, 0.15],
    [0.85, 0.15],
    [0.85, 0.85],
  ] as const;
  const addBoxes = () => {
    for (const [x, y] of POINTS) {
      const box = parts.boxes.length < limits.boxes ? boxAt(innerWidth * x, innerHeight * y) : null;
      if (!box || boxed.has(box.element)) continue;
      boxed.add(box.element);
      parts.boxes.push({ text: box.text, buttons: box.buttons });
    }
  };

  walk(document);
  addBoxes();
  for (const [form, fields] of forms) {
    if (parts.forms.length >= limits.forms) break;
    const around = form ?? get(Document, 'body', document);
    const action_url = form ? String(get(HTMLFormElement, 'action', form)).slice(0, limits.url) : '';
    parts.forms.push({ fields: [...fields], action_url, text: around ? textOf(around, 500) : '' });
  }
  return parts;
}
