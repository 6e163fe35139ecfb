import { type Static, Type } from 'typebox';
import { AdBlockSchema } from '../capture/ad-block.ts';
import { ARTIFACT_NAME } from '../capture/artifacts.ts';
import { CaptureSchema } from '../capture/capture.ts';
import { OPEN } from '../capture/fields.ts';
import { FAILURE_CODES } from '../failures.ts';
import { DISCOVERED_ADS_MAX } from '../limits.ts';
import { CrawlJobSchema, JobMemberSchema } from './crawl-job.ts';

/** The messages of the node API, `/node/v1`; PROTOCOL.md beside this file describes when each is sent. */

/** A lease expires after this unless it is renewed. */
export const LEASE_MS = 10_000;
/** How often a node renews. */
export const RENEW_EVERY_MS = 3_000;
/** How often a node sends a heartbeat. */
export const HEARTBEAT_EVERY_MS = 5_000;
/** The longest an acquire waits for work. */
export const ACQUIRE_WAIT_MAX_MS = 25_000;
/** The most leases of one acquire. */
export const ACQUIRE_MAX = 32;
/** Characters of the private cause of a failure. */
export const CAUSE_LENGTH_MAX = 4_000;

export const NODE_ID = '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$';

/** The resources of a node's machine that can be overloaded. */
export const NODE_RESOURCES = ['memory', 'cpu'] as const;
export type NodeResource = (typeof NODE_RESOURCES)[number];

/**
 * The services without which a node takes no work: the proxy-router, which issues exits, and its browser, its own or a
 * remote one.
 */
export const NODE_SERVICES = ['exits', 'browser'] as const;
export type NodeService = (typeof NODE_SERVICES)[number];

/** An operator's labels of a node. */
export const NODE_LABELS_MAX = 16;
export const NODE_LABEL_KEY = '^[a-z][a-z0-9_.-]{0,62}$';
export const NODE_LABEL_LENGTH_MAX = 128;
const NodeLabelsSchema = Type.Record(
  Type.String({ pattern: NODE_LABEL_KEY }),
  Type.String({ maxLength: NODE_LABEL_LENGTH_MAX }),
  { maxProperties: NODE_LABELS_MAX, additionalProperties: false },
);

/** `PUT nodes/{id}`: register and heartbeat. */
export const NodeReportSchema = Type.Object(
  {
    slots: Type.Integer({ minimum: 1, maximum: 256 }),
    /** The most slots that it takes where its load allows; absent: `slots`. */
    slots_max: Type.Optional(Type.Integer({ minimum: 1, maximum: 256 })),
    busy: Type.Integer({ minimum: 0, maximum: 256 }),
    draining: Type.Boolean(),
    adsweep_version: Type.String({ maxLength: 50 }),
    browser_version: Type.String({ maxLength: 100 }),
    /** Nodes of earlier versions send it; it means nothing. */
    pool: Type.Optional(Type.String({ maxLength: 63 })),
    labels: Type.Optional(NodeLabelsSchema),
    /** The overloaded resources for which it takes no more work; absent: none. */
    overloaded: Type.Optional(Type.Array(Type.Enum(NODE_RESOURCES), { maxItems: NODE_RESOURCES.length })),
    /** The services that are gone, until whose return it takes no more work; absent: none. */
    waits_for: Type.Optional(Type.Array(Type.Enum(NODE_SERVICES), { maxItems: NODE_SERVICES.length })),
  },
  { additionalProperties: false },
);
export type NodeReport = Static<typeof NodeReportSchema>;

/**
 * Response of `PUT nodes/{id}`: the credential for this process of the node from now on, and whether the operator
 * drains the node (absent: the control plane is of an earlier version).
 */
export const RegisteredSchema = Type.Object({
  credential: Type.String(),
  drain: Type.Optional(Type.Boolean()),
  /** With which an enrolled node calls the proxy-router (router-pass.ts); absent: with the join token. */
  router_pass: Type.Optional(Type.String()),
});
export type Registered = Static<typeof RegisteredSchema>;

/** `POST nodes/{id}/enrol` and `rotate`: the SHA-256 of the credential that the node made, in hex. */
export const CredentialHashSchema = Type.Object(
  { sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }) },
  { additionalProperties: false },
);
/** Response of both: when the credential ends. */
export const EnrolledSchema = Type.Object({ expires_at: Type.String() });
export type Enrolled = Static<typeof EnrolledSchema>;

/** `POST leases/acquire`: up to `max` jobs, waiting up to `wait_ms` for the first. */
export const AcquireSchema = Type.Object(
  {
    node_id: Type.String({ pattern: NODE_ID }),
    max: Type.Integer({ minimum: 1, maximum: ACQUIRE_MAX }),
    wait_ms: Type.Integer({ minimum: 0, maximum: ACQUIRE_WAIT_MAX_MS }),
  },
  { additionalProperties: false },
);
export type Acquire = Static<typeof AcquireSchema>;

/** A node's timed right to one job. `token` is the bearer credential of every further call about this lease. */
const LeaseSchema = Type.Object({
  lease_id: Type.String(),
  token: Type.String(),
  expires_in_ms: Type.Integer(),
  job: CrawlJobSchema,
});
export type Lease = Static<typeof LeaseSchema>;

/** `drain`: the operator drains the node; it gets no leases. */
export const AcquiredSchema = Type.Object({
  leases: Type.Array(LeaseSchema),
  drain: Type.Optional(Type.Literal(true)),
});
export type Acquired = Static<typeof AcquiredSchema>;

/** Response of `renew`. `lost`: another lease has the job, or it has ended; `cancelled`: its scans were cancelled. */
export const RenewedSchema = Type.Object({
  outcome: Type.Union([Type.Literal('renewed'), Type.Literal('lost'), Type.Literal('cancelled')]),
  expires_in_ms: Type.Integer(),
});
export type Renewed = Static<typeof RenewedSchema>;

/** Response of `PUT scans/{scan}/artifacts/{name}`. */
export const UploadedSchema = Type.Object({ name: Type.String(), sha256: Type.String(), bytes: Type.Integer() });
export type Uploaded = Static<typeof UploadedSchema>;

export const CompleteSchema = Type.Object({ capture: CaptureSchema }, { additionalProperties: false });
export type Complete = Static<typeof CompleteSchema>;

/**
 * `POST scans/{scan}/complete-with-files`, the JSON at the beginning of its body (`capture-with-files.ts`): the
 * capture, and the files that follow, with their sizes.
 */
export const CompleteWithFilesSchema = Type.Object(
  {
    capture: CaptureSchema,
    files: Type.Array(
      Type.Object({ name: Type.String({ pattern: ARTIFACT_NAME }), bytes: Type.Integer({ minimum: 0 }) }, OPEN),
      { maxItems: 200 },
    ),
  },
  { additionalProperties: false },
);
export type CompleteWithFiles = Static<typeof CompleteWithFilesSchema>;

/** `POST scans/{scan}/fail`: the public code, the private cause (for our log alone) and the evidence so far. */
export const FailSchema = Type.Object(
  {
    code: Type.Enum(FAILURE_CODES),
    cause: Type.String({ maxLength: CAUSE_LENGTH_MAX }),
    capture: Type.Union([CaptureSchema, Type.Null()]),
  },
  { additionalProperties: false },
);
export type Fail = Static<typeof FailSchema>;

/**
 * `POST members`: all ads that a sweep found and that are to be scanned, in the order of their `slot_index`. Scans of
 * the sweep whose ads are not among them have no ad any more, and end.
 */
export const AddMembersSchema = Type.Object(
  { members: Type.Array(AdBlockSchema, { maxItems: DISCOVERED_ADS_MAX }) },
  { additionalProperties: false },
);
export type AddMembers = Static<typeof AddMembersSchema>;

/**
 * Response of `members`, in the order of the request. `leased`: the node runs `member` under this lease; the lease may
 * have it already. `waiting`: it will be leased again later. `ended`: it has its result. `quota`: the organization may
 * make no more checks, `cap`: the sweep may have no more ads, and there is no such scan.
 */
export const AddedMembersSchema = Type.Object({
  members: Type.Array(
    Type.Object({
      identity: Type.String(),
      state: Type.Union([
        Type.Literal('leased'),
        Type.Literal('waiting'),
        Type.Literal('ended'),
        Type.Literal('quota'),
        Type.Literal('cap'),
      ]),
      member: Type.Union([JobMemberSchema, Type.Null()]),
    }),
  ),
});
export type AddedMembers = Static<typeof AddedMembersSchema>;
