import type { NativeFunctions } from './native-functions.ts';

/**
 * For pages and frames of desktops, whose browsers have a PDF viewer: the plugins and MIME types that the HTML standard
 * defines for it ("PDF viewing support") and that headless Chromium lacks.
 */
export function addPdfPlugins({ wrap, wrapGetter }: NativeFunctions): void {
  const { plugins: noPlugins, mimeTypes: noTypes } = navigator;
  if (noPlugins.length > 0) return;
  type Facts = Record<string, unknown> & { items?: object[]; named?: Record<string, object> };
  /** What the objects that are made here say of themselves. */
  const made = new WeakMap<object, Facts>();
  const factsOf = Function.prototype.call.bind(made.get, made) as (self: unknown) => Facts | undefined;

  const description = 'Portable Document Format';
  const make = (kind: { prototype: object }, facts: Facts): object => {
    const object = Object.create(kind.prototype);
    made.set(object, facts);
    return object;
  };
  const fill = (list: object, items: object[], names: string[]): object => {
    const named = Object.assign(Object.create(null), Object.fromEntries(names.map((name, at) => [name, items[at]])));
    for (const [at, value] of items.entries())
      Object.defineProperty(list, at, { value, enumerable: true, configurable: true });
    for (const [name, value] of Object.entries(named)) Object.defineProperty(list, name, { value, configurable: true });
    made.set(list, { ...made.get(list), items, named, length: items.length });
    return list;
  };
  const types = ['application/pdf', 'text/pdf'];
  const typesOf = (enabledPlugin: object) =>
    types.map((type) => make(MimeType, { type, suffixes: 'pdf', description, enabledPlugin }));
  const names = [
    'PDF Viewer',
    'Chrome PDF Viewer',
    'Chromium PDF Viewer',
    'Microsoft Edge PDF Viewer',
    'WebKit built-in PDF',
  ];
  const plugins = names.map((name) => {
    const plugin = make(Plugin, { name, filename: 'internal-pdf-viewer', description });
    return fill(plugin, typesOf(plugin), types);
  });

  const attributes = { name: Plugin, filename: Plugin, type: MimeType, suffixes: MimeType, enabledPlugin: MimeType };
  const described = [Plugin, MimeType].map((kind) => ['description', kind] as const);
  const counted = [Plugin, PluginArray, MimeTypeArray].map((kind) => ['length', kind] as const);
  for (const [name, kind] of [...Object.entries(attributes), ...described, ...counted])
    wrap(kind.prototype, name, (self, _, original) => {
      const facts = factsOf(self);
      return facts ? facts[name] : original(self);
    });
  const lists = [[Plugin], [PluginArray, noPlugins], [MimeTypeArray, noTypes]] as const;
  for (const [kind, empty] of lists) {
    const find = (name: string, found: (facts: Facts, argument: unknown) => unknown) =>
      wrap(kind.prototype, name, (self, argument, original) => {
        const facts = factsOf(self);
        if (!facts) return original(self);
        // It refuses what the browser's own refuses.
        if (empty) original(empty);
        return found(facts, argument);
      });
    find('item', ({ items = [] }, index) => {
      const at = (index as number) >>> 0;
      // A page may have an accessor for what a list lacks.
      return at < items.length ? items[at] : null;
    });
    find('namedItem', ({ named }, name) => named?.[name as string] ?? null);
    find('refresh', () => undefined);
  }
  const prototype = Object.getPrototypeOf(navigator);
  wrapGetter(prototype, 'plugins', fill(make(PluginArray, {}), plugins, names));
  wrapGetter(prototype, 'mimeTypes', fill(make(MimeTypeArray, {}), typesOf(plugins[0] as object), types));
  wrapGetter(prototype, 'pdfViewerEnabled', true);
}
