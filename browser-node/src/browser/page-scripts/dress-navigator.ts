/** What `navigator` and `window` say on a device where Chromium itself would say otherwise. */
export type NavigatorDress = {
  /** Properties of `navigator` that are texts or lists of texts. */
  answers: Record<string, string | string[]>;
  /** Names that this browser's `navigator` does not have at all. */
  missing: string[];
  /** Whether `window.chrome` is there: on Chrome and on what is made of it. */
  chrome: boolean;
  /** Whether the browser shows PDF files itself, which pages see as plugins. */
  pdfViewer: boolean;
};

/**
 * Runs in pages, frames and workers before their own scripts; stands alone, as its source is what is sent. Getters are wrapped rather
 * than replaced: they stay on the prototype, still refuse a wrong `this` and print as native code.
 */
export function dressNavigator(dress: NavigatorDress): void {
  const { apply } = Reflect;
  const prototype = Object.getPrototypeOf(navigator);

  const wrapGetter = (name: string, value: unknown) => {
    const property = Object.getOwnPropertyDescriptor(prototype, name);
    if (!property?.get) return;
    const get = new Proxy(property.get, {
      apply(getter, self, args) {
        apply(getter, self, args);
        return value;
      },
    });
    Object.defineProperty(prototype, name, { ...property, get });
  };

  const dressChrome = () => {
    if (!dress.chrome) Reflect.deleteProperty(window, 'chrome');
    if (!dress.chrome || 'chrome' in window) return;
    const since = performance.timeOrigin;
    const chrome = {
      app: { isInstalled: false },
      csi: () => ({ onloadT: Math.round(since), pageT: performance.now(), startE: Math.round(since), tran: 15 }),
      loadTimes: () => ({ requestTime: since / 1000, startLoadTime: since / 1000, navigationType: 'Other' }),
    };
    Object.defineProperty(window, 'chrome', { value: chrome, writable: true, enumerable: true, configurable: false });
  };

  // The five names are fixed by the HTML standard, "PDF viewing support".
  const dressPlugins = () => {
    const list = <T extends object>(kind: { prototype: object }, items: T[], nameOf: (item: T) => string) => {
      const made = Object.create(kind.prototype);
      Object.defineProperty(made, 'length', { value: items.length });
      for (const [index, item] of items.entries()) {
        Object.defineProperty(made, index, { value: item, enumerable: true });
        Object.defineProperty(made, nameOf(item), { value: item });
      }
      Object.defineProperty(made, 'item', { value: (index: number) => items[index] ?? null });
      Object.defineProperty(made, 'namedItem', {
        value: (name: string) => items.find((i) => nameOf(i) === name) ?? null,
      });
      return Object.defineProperty(made, Symbol.iterator, { value: () => items[Symbol.iterator]() });
    };
    const fixed = (kind: { prototype: object }, values: Record<string, unknown>) => {
      const made = Object.create(kind.prototype);
      for (const [name, value] of Object.entries(values)) Object.defineProperty(made, name, { value });
      return made;
    };
    const types = ['application/pdf', 'text/pdf'].map((type) =>
      fixed(MimeType, { type, suffixes: 'pdf', description: 'Portable Document Format' }),
    );
    const names = [
      'PDF Viewer',
      'Chrome PDF Viewer',
      'Chromium PDF Viewer',
      'Microsoft Edge PDF Viewer',
      'WebKit built-in PDF',
    ];
    const plugins = names.map((name) =>
      fixed(Plugin, {
        name,
        filename: 'internal-pdf-viewer',
        description: 'Portable Document Format',
        length: 2,
        0: types[0],
        1: types[1],
      }),
    );
    for (const type of types) Object.defineProperty(type, 'enabledPlugin', { value: plugins[0] });
    wrapGetter(
      'plugins',
      list(PluginArray, plugins, (plugin) => plugin.name),
    );
    wrapGetter(
      'mimeTypes',
      list(MimeTypeArray, types, (type) => type.type),
    );
    wrapGetter('pdfViewerEnabled', true);
  };

  for (const [name, value] of Object.entries(dress.answers)) {
    if (String(Reflect.get(navigator, name)) === String(value)) continue;
    wrapGetter(name, Array.isArray(value) ? Object.freeze(value) : value);
  }
  for (const name of dress.missing) Reflect.deleteProperty(prototype, name);
  if (typeof window === 'undefined') return;
  dressChrome();
  if (dress.pdfViewer && navigator.plugins.length === 0) dressPlugins();
}
