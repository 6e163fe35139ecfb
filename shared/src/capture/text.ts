import { Type } from 'typebox';

/** A text of a capture: an address, a title or a header, of at most so many characters. Nodes cut them much shorter. */
export const Text = Type.String({ maxLength: 65_536 });
