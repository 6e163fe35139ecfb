import type { Static, TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Capture } from '../capture/capture.ts';
import { fetchInTime } from '../service/fetch-in-time.ts';
import { jsonOrNull } from '../validation/json-or-null.ts';
import { packCapture, type SentFile } from './capture-with-files.ts';
import {
  type Acquire,
  type Acquired,
  AcquiredSchema,
  type AddedMembers,
  AddedMembersSchema,
  type AddMembers,
  type Enrolled,
  EnrolledSchema,
  type Fail,
  type Lease,
  type NodeReport,
  type Registered,
  RegisteredSchema,
  type Renewed,
  RenewedSchema,
  type Uploaded,
  UploadedSchema,
} from './messages.ts';

/** The node API refused a call: the status of the response, and its `code`, '' = none. */
export class NodeApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(call: string, status: number, code: string, text: string) {
    super(`${call} was answered ${status}${code ? ` ${code}` : ''}: ${text.slice(0, 300)}`);
    this.status = status;
    this.code = code;
  }
}

/** A lease and the member of its job that a call is about. */
export type MemberLease = Pick<Lease, 'lease_id' | 'token'> & { scan_id: string };

const CALL_DEADLINE_MS = 15_000;

/**
 * A client of the node API (PROTOCOL.md). Each call throws {@link NodeApiError} for a refusal and the network error
 * where there is no response; it never retries. `baseUrl` without a trailing slash.
 */
export class LeaseClient {
  readonly #baseUrl: string;
  readonly #joinToken: () => string;
  /** Credentials of the nodes that this client has registered, by their names. */
  readonly #credentials = new Map<string, string>();

  /** `joinToken`: what registers its nodes, or a function that returns the present one. */
  constructor(baseUrl: string, joinToken: string | (() => string)) {
    this.#baseUrl = `${baseUrl}/node/v1`;
    this.#joinToken = typeof joinToken === 'string' ? () => joinToken : joinToken;
  }

  /** Exchanges a one-time token for the credential whose SHA-256 in hex is `sha256`. The same call can be repeated. */
  async enrol(nodeId: string, token: string, sha256: string): Promise<Enrolled> {
    return this.#read(EnrolledSchema, 'POST', `/nodes/${encodeURIComponent(nodeId)}/enrol`, token, {
      json: { sha256 },
    });
  }

  /**
   * Lets an enrolled node replace its credential; both are valid until the next one is used. The same call can be
   * repeated.
   */
  async rotate(nodeId: string, credential: string, sha256: string): Promise<Enrolled> {
    const path = `/nodes/${encodeURIComponent(nodeId)}/rotate`;
    return this.#read(EnrolledSchema, 'POST', path, credential, { json: { sha256 } });
  }

  /**
   * Registers a node with the join token, or reports its state with the credential of its registration; a refused
   * credential is dropped.
   */
  async report(nodeId: string, report: NodeReport): Promise<Registered> {
    const credential = this.#credentials.get(nodeId) ?? this.#joinToken();
    const path = `/nodes/${encodeURIComponent(nodeId)}`;
    try {
      const registered = await this.#read(RegisteredSchema, 'PUT', path, credential, { json: report });
      this.#credentials.set(nodeId, registered.credential);
      return registered;
    } catch (error) {
      if (error instanceof NodeApiError && error.status === 401) this.#credentials.delete(nodeId);
      throw error;
    }
  }

  /** Leases, possibly none, for a registered node. `signal` aborts the long poll. */
  async acquire(request: Acquire, signal?: AbortSignal): Promise<Acquired> {
    const credential = this.#credentials.get(request.node_id);
    if (credential === undefined) throw new Error(`node ${request.node_id} is not registered yet`);
    const deadlineMs = request.wait_ms + CALL_DEADLINE_MS;
    return this.#read(AcquiredSchema, 'POST', '/leases/acquire', credential, {
      json: request,
      signal,
      deadlineMs,
    });
  }

  async renew(lease: Lease): Promise<Renewed> {
    return this.#read(RenewedSchema, 'POST', `/leases/${lease.lease_id}/renew`, lease.token, {});
  }

  /** Reports, before a job of isolation `node` begins, that nothing else runs on its node. */
  async beginAlone(lease: Lease): Promise<void> {
    await this.#send('POST', `/leases/${lease.lease_id}/alone`, lease.token, {});
  }

  /** Reports that a request to the target of a member was sent, while its attempt still runs. */
  async reportLoaded(member: MemberLease): Promise<void> {
    await this.#send('POST', `${pathOf(member)}/loaded`, member.token, {});
  }

  async upload(member: MemberLease, name: string, contentType: string, bytes: Uint8Array | Blob): Promise<Uploaded> {
    const path = `${pathOf(member)}/artifacts/${encodeURIComponent(name)}`;
    return this.#read(UploadedSchema, 'PUT', path, member.token, { bytes, contentType, deadlineMs: 60_000 });
  }

  async complete(member: MemberLease, capture: Capture): Promise<void> {
    const call = { json: { capture }, deadlineMs: 60_000 };
    await this.#send('POST', `${pathOf(member)}/complete`, member.token, call);
  }

  /** Submits a capture together with small files. */
  async completeWithFiles(member: MemberLease, capture: Capture, files: SentFile[]): Promise<void> {
    const bytes = packCapture((sent) => JSON.stringify({ capture, files: sent }, wellFormed), files);
    const call = { bytes, contentType: 'application/octet-stream', deadlineMs: 60_000 };
    await this.#send('POST', `${pathOf(member)}/complete-with-files`, member.token, call);
  }

  async fail(member: MemberLease, failure: Fail): Promise<void> {
    await this.#send('POST', `${pathOf(member)}/fail`, member.token, { json: failure, deadlineMs: 60_000 });
  }

  /** Adds discovered scans to the job; a slot that exists already is returned unchanged. */
  async addMembers(lease: Lease, found: AddMembers): Promise<AddedMembers> {
    const call = { json: found, deadlineMs: 60_000 };
    return this.#read(AddedMembersSchema, 'POST', `/leases/${lease.lease_id}/members`, lease.token, call);
  }

  async release(lease: Lease): Promise<void> {
    await this.#send('POST', `/leases/${lease.lease_id}/release`, lease.token, {});
  }

  async #read<S extends TSchema>(
    schema: S,
    method: string,
    path: string,
    token: string,
    call: Call,
  ): Promise<Static<S>> {
    const text = await this.#send(method, path, token, call);
    return Value.Parse(schema, JSON.parse(text)) as Static<S>;
  }

  async #send(method: string, path: string, token: string, call: Call): Promise<string> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    let body: BodyInit | null = null;
    if (call.bytes) {
      headers['content-type'] = call.contentType ?? 'application/octet-stream';
      body = call.bytes as Uint8Array<ArrayBuffer> | Blob;
    } else if (call.json !== undefined) {
      headers['content-type'] = 'application/json';
      body = JSON.stringify(call.json, wellFormed);
    }
    const init = { method, headers, body, signal: call.signal };
    const { status, isOk, text } = await fetchInTime(this.#baseUrl + path, init, call.deadlineMs ?? CALL_DEADLINE_MS);
    if (!isOk) throw new NodeApiError(`${method} ${path}`, status, codeOf(text), text);
    return text;
  }
}

const pathOf = ({ lease_id, scan_id }: MemberLease): string => `/leases/${lease_id}/scans/${scan_id}`;

/** Texts of hostile pages contain lone surrogates, which no store accepts. */
const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value;

type Call = {
  json?: unknown;
  bytes?: Uint8Array | Blob;
  contentType?: string;
  signal?: AbortSignal;
  deadlineMs?: number;
};

function codeOf(text: string): string {
  const { code } = (jsonOrNull(text) ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
