import { BSON, MongoInvalidArgumentError } from 'mongodb';

/** A document as deserialized from BSON, owned by the caller. */
export type Fields = Record<string, unknown>;

/** MongoDB's limit, enforced here so that every document could be moved to a server. */
const LARGEST_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** The driver's own serializer, `undefined` left out. Throws on a document above 16 MiB. */
export function toBytes(fields: object): Uint8Array {
  return ofAllowedSize(BSON.serialize(fields, { ignoreUndefined: true }));
}

/** Throws on a document above 16 MiB. */
export function ofAllowedSize(bytes: Uint8Array): Uint8Array {
  if (bytes.length > LARGEST_DOCUMENT_BYTES) {
    throw new MongoInvalidArgumentError(`a document of ${bytes.length} bytes is larger than ${LARGEST_DOCUMENT_BYTES}`);
  }
  return bytes;
}

export function fromBytes(bytes: Uint8Array): Fields {
  return BSON.deserialize(bytes);
}

/** The values as a server would return them: plain copies. */
export function asStored(fields: object): Fields {
  return fromBytes(toBytes(fields));
}
