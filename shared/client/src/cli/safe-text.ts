/** Characters that a terminal would obey, or that change the order of what is read: titles and URLs of hostile pages may contain them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** A text that a terminal shows as it is, on one line. */
export const safeText = (text: string): string => text.replace(OBEYED, '\ufffd');

/** JSON in which such characters are escaped, so that it means the same and can be shown. */
export const safeJson = (value: unknown, indent = 2): string =>
  JSON.stringify(value, null, indent).replace(OBEYED, (char) =>
    char === '\n' ? char : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
