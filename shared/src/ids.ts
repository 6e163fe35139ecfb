import { randomBytes, randomUUID } from 'node:crypto';

/** A new record id: a random UUID, opaque to clients. */
export const newId = (): string => randomUUID();

/** A new secret of `bytes` random bytes in base64url: report tokens (128 bits = 16 bytes), for example. */
export const newSecret = (bytes: number): string => randomBytes(bytes).toString('base64url');

/** A new API key: 256 random bits after a prefix by which scanners for leaked secrets know it. */
export const newApiKey = (): string => `adsw_${newSecret(32)}`;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` has the form of an id that {@link newId} could have made. */
export const isId = (text: string): boolean => UUID.test(text);
