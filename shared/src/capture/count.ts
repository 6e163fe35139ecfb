import { Type } from 'typebox';

/** A number of bytes, milliseconds or things, or an ordinal: one that every reader of JSON holds exactly (RFC 8259 6). */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
