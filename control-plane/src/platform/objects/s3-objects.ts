import { PassThrough, Readable } from 'node:stream';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  paginateListObjectsV2,
  S3Client,
  type ServerSideEncryption,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { inPortions } from '../in-portions.ts';
import { isSafeKey, type ListedObject, type ObjectStore, ObjectsUnavailable, requireSafeKey } from './object-store.ts';

/**
 * Where a bucket is. `endpoint` '': AWS. `prefix`: of all keys, '' or a path without slashes at its ends. `pathStyle`:
 * the bucket is in the path instead of the host name. `encryption`: which one the server is asked for, '' its own
 * default; `kmsKeyId` '': the account's key. `credentials` null: those that the AWS SDK finds (environment, shared
 * file, container, instance).
 */
export type S3Location = {
  bucket: string;
  endpoint: string;
  region: string;
  prefix: string;
  pathStyle: boolean;
  encryption: string;
  kmsKeyId: string;
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
};

/**
 * Bytes of a part of a multipart upload, the smallest that S3 accepts; an upload holds two of them. What is smaller is
 * one request.
 */
const PART_BYTES = 5 * 1024 * 1024;
const PARTS_AT_ONCE = 2;
const ATTEMPTS_MAX = 3;
/**
 * Objects deleted at once, each by its own request: one for many needs `Content-MD5` on many servers, and the SDK sends
 * another checksum.
 */
const DELETES_AT_ONCE = 20;
const CONNECT_MS = 3_000;
/** Maximum time without a byte in either direction. */
const SILENCE_MS = 15_000;
/**
 * Maximum time for a server to answer, from the wait for a socket on and with the part that is sent: a node waits as
 * long for an upload.
 */
const REQUEST_MS = 60_000;
/** Enough for all concurrent uploads and downloads of a process; further requests wait. */
const SOCKETS_MAX = 256;
const OUTAGE_LOGGED_EVERY_MS = 60_000;

/**
 * Opens an object store in a bucket. Does not connect yet. Requests that fail reject with {@link ObjectsUnavailable},
 * after three attempts; so do streams that break in the middle.
 */
export function openS3Objects(location: S3Location, logger: Logger): ObjectStore {
  const { bucket: Bucket, endpoint, region, pathStyle, credentials } = location;
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS_MAX,
    // Checksums beside the signed hash are an extension that other servers than AWS may lack.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Some servers never ask for the body of a request that waits for that; and such requests would have further
    // sockets, each for one of them.
    expectContinueHeader: false,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
      socketTimeout: SILENCE_MS,
      httpAgent: { maxSockets: SOCKETS_MAX },
      httpsAgent: { maxSockets: SOCKETS_MAX },
    },
    ...(endpoint === '' ? {} : { endpoint }),
    ...(credentials ? { credentials } : {}),
  });
  const encryption = encryptionOf(location);
  const root = location.prefix === '' ? '' : `${location.prefix}/`;
  const nameOf = (key: string): string => {
    requireSafeKey(key);
    return `${root}${key}`;
  };
  const attempt = outageReporter(Bucket, logger);

  async function* list(key: string): AsyncGenerator<ListedObject[]> {
    const pages = paginateListObjectsV2({ client }, { Bucket, Prefix: `${nameOf(key)}/` })[Symbol.asyncIterator]();
    for (;;) {
      const { value: page, done } = await attempt(() => pages.next());
      if (done) return;
      const found = (page.Contents ?? []).map(({ Key = '', Size = 0, LastModified = new Date(0) }) => ({
        key: Key.slice(root.length),
        bytes: Size,
        modified: LastModified,
      }));
      yield found.filter((object) => isSafeKey(object.key));
    }
  }

  const remove = async (key: string): Promise<void> => {
    const Key = nameOf(key);
    await attempt(() => client.send(new DeleteObjectCommand({ Bucket, Key })));
  };

  return {
    async put(key, source) {
      const params = { Bucket, Key: nameOf(key), Body: source, ...encryption };
      const upload = new Upload({ client, params, partSize: PART_BYTES, queueSize: PARTS_AT_ONCE });
      const stream = source instanceof Readable ? source : null;
      try {
        await attempt(
          () => upload.done(),
          () => stream?.errored ?? null,
        );
      } finally {
        stream?.destroy();
      }
    },

    async get(key, range) {
      const Key = nameOf(key);
      const part = range ? { Range: `bytes=${range.start}-${range.end}` } : {};
      const found = await attempt(() =>
        client.send(new GetObjectCommand({ Bucket, Key, ...part })).catch(nullIfMissing),
      );
      if (!found) return null;
      const total = /\/(\d+)$/.exec(found.ContentRange ?? '')?.[1];
      return { stream: contentOf(found.Body as Readable, Bucket), bytes: Number(total ?? found.ContentLength) };
    },

    delete: remove,

    async deleteBelow(key) {
      for await (const objects of list(key))
        await inPortions(objects, DELETES_AT_ONCE, (some) => Promise.all(some.map((object) => remove(object.key))));
    },

    list,

    async removeIncomplete(before) {
      let removed = 0;
      const abort = async (Key: string, UploadId: string): Promise<void> => {
        await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(nullIfMissing);
        removed += 1;
      };
      await attempt(async () => {
        for await (const { Key = '', UploadId = '', Initiated = new Date() } of openUploads(client, Bucket, root))
          if (Initiated < before) await abort(Key, UploadId);
      });
      return removed;
    },

    async ping() {
      await attempt(() => client.send(new HeadBucketCommand({ Bucket })));
    },
  };
}

/** The body of a response, whose errors are those of the bucket. */
function contentOf(body: Readable, bucket: string): Readable {
  const content = new PassThrough();
  body.on('error', (cause) => content.destroy(unavailable(bucket, cause)));
  content.on('close', () => body.destroy());
  // A reader that begins later gets the error then.
  content.on('error', () => undefined);
  return body.pipe(content);
}

const unavailable = (bucket: string, cause: unknown): ObjectsUnavailable =>
  new ObjectsUnavailable(`the bucket ${bucket} cannot be used`, { cause });

/** The multipart uploads that are neither completed nor aborted, of keys that begin with `Prefix`. */
async function* openUploads(client: S3Client, Bucket: string, Prefix: string): AsyncGenerator<MultipartUpload> {
  let next: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } | null = {};
  while (next) {
    const page: ListMultipartUploadsCommandOutput = await client.send(
      new ListMultipartUploadsCommand({ Bucket, Prefix, ...next }),
    );
    yield* page.Uploads ?? [];
    next = page.IsTruncated ? { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker } : null;
  }
}

function encryptionOf({ encryption, kmsKeyId }: S3Location) {
  if (encryption === '') return {};
  return {
    ServerSideEncryption: encryption as ServerSideEncryption,
    ...(kmsKeyId === '' ? {} : { SSEKMSKeyId: kmsKeyId }),
  };
}

/** What the request for an object, or for an upload, fails with if there is none; a missing bucket has another name. */
const MISSING = ['NoSuchKey', 'NotFound', 'NoSuchUpload'];

function nullIfMissing(error: unknown): null {
  if (MISSING.includes((error as Error).name)) return null;
  throw error;
}

/**
 * Runs requests: what they fail with becomes {@link ObjectsUnavailable}, and is logged once a minute, unless
 * `callersError` says that the caller is the reason.
 */
function outageReporter(bucket: string, logger: Logger) {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return async <T>(request: () => Promise<T>, callersError: () => Error | null = () => null): Promise<T> => {
    try {
      return await request();
    } catch (cause) {
      const theirs = callersError();
      if (theirs) throw theirs;
      if (performance.now() - loggedAt >= OUTAGE_LOGGED_EVERY_MS) {
        loggedAt = performance.now();
        logger.error({ bucket, cause }, 'the bucket cannot be used');
      }
      throw unavailable(bucket, cause);
    }
  };
}
