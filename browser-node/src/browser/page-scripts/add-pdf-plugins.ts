import type { NativeFunctions } from './native-functions.ts';

/**
 * For pages and frames of desktops, whose browsers show PDF files themselves: the plugins and types that the HTML standard fixes for
 * them ("PDF viewing support"), which a headless Chromium does not have.
 */
export function addPdfPlugins({ wrapGetter }: NativeFunctions): void {
  if (navigator.plugins.length > 0) return;
  const description = 'Portable Document Format';
  const { apply } = Reflect;
  const { indexOf, values: iterate } = Array.prototype;
  const fixed = (kind: { prototype: object }, values: object): object => {
    const made = Object.create(kind.prototype);
    for (const [name, value] of Object.entries(values)) Object.defineProperty(made, name, { value });
    return made;
  };
  const list = (kind: { prototype: object }, names: string[], items: object[]): object =>
    Object.defineProperty(
      fixed(kind, {
        ...items,
        ...Object.fromEntries(names.map((name, index) => [name, items[index]])),
        length: items.length,
        item: (index: number) => items[index] ?? null,
        namedItem: (name: string) => items[apply(indexOf, names, [name])] ?? null,
      }),
      Symbol.iterator,
      { value: () => apply(iterate, items, []) },
    );
  const typeNames = ['application/pdf', 'text/pdf'];
  const types = typeNames.map((type) => fixed(MimeType, { type, suffixes: 'pdf', description }));
  const names = [
    'PDF Viewer',
    'Chrome PDF Viewer',
    'Chromium PDF Viewer',
    'Microsoft Edge PDF Viewer',
    'WebKit built-in PDF',
  ];
  const plugins = names.map((name) =>
    fixed(Plugin, { ...types, name, filename: 'internal-pdf-viewer', description, length: types.length }),
  );
  for (const type of types) Object.defineProperty(type, 'enabledPlugin', { value: plugins[0] });
  const prototype = Object.getPrototypeOf(navigator);
  wrapGetter(prototype, 'plugins', list(PluginArray, names, plugins));
  wrapGetter(prototype, 'mimeTypes', list(MimeTypeArray, typeNames, types));
  wrapGetter(prototype, 'pdfViewerEnabled', true);
}
