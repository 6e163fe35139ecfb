import type { FetchedDocument } from '../../src/capture/vast/wrapper-chain.ts';

/** A document as fetched from its server. */
export const fetched = (url: string, text: string): FetchedDocument => ({
  url,
  statusCode: 200,
  contentType: '',
  text,
  fault: '',
  readable: true,
  atMs: 0,
  elapsedMs: 0,
});
