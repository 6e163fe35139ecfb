import { Type } from 'typebox';

/** An object of a capture may have fields that this version does not know, up to this number of fields in all. */
export const OPEN = { maxProperties: 30 };

/**
 * A number of bytes, milliseconds or things, or an ordinal: one that every reader of JSON holds exactly (RFC 8259 6).
 */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** A URL, title or header value of a capture. Nodes cut them much shorter. */
export const Text = Type.String({ maxLength: 65_536 });
