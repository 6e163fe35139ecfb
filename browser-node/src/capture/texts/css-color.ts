/** A computed color: red, green and blue, null if its notation is not known; and the opacity. */
export type Color = { rgb: number[] | null; alpha: number };

/**
 * The first color in a computed style; transparent if there is none, opaque and unknown if it is in a notation that is
 * not parsed.
 */
export function parseColor(style: string): Color {
  if (style === '' || style === 'none') return { rgb: null, alpha: 0 };
  const [, numbers = ''] = /rgba?\(([^)]*)\)/.exec(style) ?? [];
  const [red, green, blue, alpha = 1] = (numbers.match(/[\d.]+/g) ?? []).map(Number);
  if (red === undefined || green === undefined || blue === undefined) return { rgb: null, alpha: 1 };
  return { rgb: [red, green, blue], alpha };
}

/** The contrast of two colors (WCAG 2.2, 1 to 21). */
export function contrast(a: number[], b: number[]): number {
  const linear = (value: number) => (value <= 10 ? value / 3294 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ([red = 0, green = 0, blue = 0]: number[]) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}
