import { BSON, MongoInvalidArgumentError } from 'mongodb';

/** A record as the engine handles it: what BSON gives back, owned by whoever read it. */
export type Fields = Record<string, unknown>;

/** The limit of MongoDB, kept here so that nothing is stored that could not be carried over to it. */
const LARGEST_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** The driver's own serializer, `undefined` left out. Throws on a document above 16 MiB. */
export function toBytes(fields: object): Uint8Array {
  const bytes = BSON.serialize(fields, { ignoreUndefined: true });
  if (bytes.length > LARGEST_DOCUMENT_BYTES) {
    throw new MongoInvalidArgumentError(`a document of ${bytes.length} bytes is larger than ${LARGEST_DOCUMENT_BYTES}`);
  }
  return bytes;
}

export function fromBytes(bytes: Uint8Array): Fields {
  return BSON.deserialize(bytes);
}

/** What the values would be after a trip to a server: plain, and shared with nobody. */
export function asStored(fields: object): Fields {
  return fromBytes(toBytes(fields));
}
