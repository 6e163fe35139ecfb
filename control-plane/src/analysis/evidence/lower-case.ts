/**
 * A text in lower case, with i for the dotless ı and for the i that is left of İ with its dot as a mark of its own: in
 * capitals it is not known which of the two Turkish letters a word has. Words to search for are folded alike. Pure.
 */
export const lowerCase = (text: string): string => text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ı', 'i');
