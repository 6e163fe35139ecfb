/**
 * Why nothing came back: the name has no address, an address may not be reached, no connection, no trusted certificate,
 * no answer in time.
 */
export type EgressCode = 'dns' | 'blocked_address' | 'connect' | 'tls' | 'timeout';

/** A request to a client's server that got no answer. The message may be shown to that client. */
export class EgressError extends Error {
  readonly code: EgressCode;

  constructor(code: EgressCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'EgressError';
    this.code = code;
  }
}
