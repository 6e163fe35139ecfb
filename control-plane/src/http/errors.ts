import type { Issue } from '@adsweep/shared/validation/issue.ts';

/**
 * All error codes: the HTTP status, and whether `detail` is a `text` or `items` about fields (spec 2.4, 7). `means` is the explanation in
 * the API reference.
 */
export const ERRORS = {
  validation_error: {
    status: 422,
    detail: 'items',
    means: 'Fields are missing, unknown, invalid or mutually exclusive.',
  },
  'scanning.unsupported_country_code': { status: 422, detail: 'items', means: 'No exit serves this country.' },
  'scanning.unknown_emulator_id': { status: 422, detail: 'items', means: 'There is no such device emulator.' },
  'scanning.unsupported_proxy_region': {
    status: 422,
    detail: 'items',
    means: 'The country has no such region in this pool.',
  },
  'scanning.unsupported_proxy_city': {
    status: 422,
    detail: 'items',
    means: 'The country has no such city in this pool.',
  },
  'scanning.unsupported_proxy_isp': {
    status: 422,
    detail: 'items',
    means: 'The country has no such ISP in this pool.',
  },
  'scanning.search_timed_out': {
    status: 504,
    detail: 'text',
    means: 'The search of the list takes too long; further filters make it shorter.',
  },
  'scanning.part_of_sweep': {
    status: 409,
    detail: 'text',
    means: 'The scan of a discovered ad cannot be cancelled, nor can a sweep that has found ads.',
  },
  'idempotency.key_reused': {
    status: 422,
    detail: 'items',
    means: 'The Idempotency-Key was sent before with another body.',
  },
  'idempotency.in_progress': {
    status: 409,
    detail: 'text',
    means: 'The first request with this Idempotency-Key is still running.',
  },
  unauthorized: { status: 401, detail: 'text', means: 'The credential is missing or not valid.' },
  forbidden: { status: 403, detail: 'text', means: 'The credential lacks the permission named in `detail`.' },
  rate_limited: {
    status: 429,
    detail: 'text',
    means:
      'The organization has used up its requests of this minute, or is sending or reading too many large bodies at once.',
  },
  not_found: { status: 404, detail: 'text', means: 'It does not exist, or it belongs to another organization.' },
  method_not_allowed: { status: 405, detail: 'text', means: 'The path exists, but does not support this method.' },
  request_too_large: { status: 413, detail: 'text', means: 'The body is larger than the operation allows.' },
  range_not_satisfiable: { status: 416, detail: 'text', means: 'The requested range is outside the file.' },
  url_too_long: { status: 414, detail: 'text', means: 'The URL has more than 24,576 characters.' },
  headers_too_large: { status: 431, detail: 'text', means: 'The request line and headers are larger than 48 KiB.' },
  bad_request: { status: 400, detail: 'text', means: 'The request is not valid HTTP.' },
  request_timeout: { status: 408, detail: 'text', means: 'The request did not arrive completely in time.' },
  unsupported_media_type: { status: 415, detail: 'text', means: 'The body is compressed; send it uncompressed.' },
  internal_error: {
    status: 500,
    detail: 'text',
    means: 'An internal error; the log of the service has its cause under the request id.',
  },
  'account.key_of_settings': {
    status: 409,
    detail: 'text',
    means: 'The key is defined by the settings of the service and can only be changed there.',
  },
  'account.too_many_keys': {
    status: 409,
    detail: 'text',
    means: 'An organization can have at most 1,000 keys that are not revoked.',
  },
  'account.too_many_oauth_clients': {
    status: 409,
    detail: 'text',
    means: 'The organization has as many OAuth clients as it can have.',
  },
  'account.too_many_roles': {
    status: 409,
    detail: 'text',
    means: 'An organization can have at most 100 roles.',
  },
  'campaigns.archived': {
    status: 409,
    detail: 'text',
    means: 'The campaign is archived: it cannot run or change, and no scan can join it.',
  },
  'campaigns.run_too_large': {
    status: 422,
    detail: 'items',
    means: 'Countries, devices and repeats make more than 10,000 scans.',
  },
  'campaigns.too_many': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 20,000 campaigns, whose settings and targets have at most 256 MiB together.',
  },
  'runs.cancelled': {
    status: 409,
    detail: 'text',
    means: 'The run is cancelled: no scan can join it.',
  },
  'campaign_groups.archived': {
    status: 409,
    detail: 'text',
    means: 'The campaign group is archived.',
  },
  'campaign_groups.is_default': {
    status: 409,
    detail: 'text',
    means: 'The default group cannot be archived.',
  },
  'campaign_groups.too_many': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 1,000 campaign groups.',
  },
  'notifications.invalid_override_combination': {
    status: 422,
    detail: 'items',
    means: '`destination_ids` were sent with a `mode` other than `override`.',
  },
  'notifications.invalid_label_routing_combination': {
    status: 422,
    detail: 'items',
    means: 'A `routing_label_key` was sent with the `mode` `silence`.',
  },
  'notifications.mail_not_configured': {
    status: 422,
    detail: 'items',
    means: 'The service has no mail server, so that destinations cannot be mail addresses.',
  },
  'notifications.too_many_destinations': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 50 destinations of alerts.',
  },
  'webhooks.too_many': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 20 webhook endpoints.',
  },
  'alerts.transition_not_allowed': {
    status: 422,
    detail: 'items',
    means: 'An alert of this status cannot get the requested one.',
  },
  'policies.private_entries': {
    status: 422,
    detail: 'items',
    means: 'Only platform tags, IAB categories, brands and AI categories can be shared.',
  },
  'policies.not_published': {
    status: 409,
    detail: 'text',
    means:
      'The policy set is not published at the moment: no further campaign can be bound to it, and it cannot be taken down.',
  },
  'policies.not_awaiting': {
    status: 409,
    detail: 'text',
    means: 'The policy set does not await approval.',
  },
  'policies.changed': {
    status: 409,
    detail: 'text',
    means: 'The policy set has another version than the one that was to be approved.',
  },
  'policies.in_use': {
    status: 409,
    detail: 'text',
    means: 'A campaign that is not archived is bound to the policy set.',
  },
  'policies.too_many': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 500 policy sets, whose texts and entries have at most 32 MiB together.',
  },
  'billing.suspended': {
    status: 403,
    detail: 'text',
    means: 'The organization is not active: it can read its data but create nothing.',
  },
  'billing.quota_exhausted': {
    status: 403,
    detail: 'text',
    means: 'The organization has fewer checks left this month than the request needs.',
  },
  'billing.insufficient_funds': {
    status: 403,
    detail: 'text',
    means: 'The request costs more than the balance of the organization.',
  },
  'catalogue.not_ready': {
    status: 503,
    detail: 'text',
    means: 'The targeting catalogue has not been read yet; try again shortly.',
  },
  'checking.system_slug_reserved': {
    status: 422,
    detail: 'items',
    means: 'The slug belongs to a system tag.',
  },
  'checking.tag_in_use': {
    status: 409,
    detail: 'text',
    means: 'An active rule or a policy set uses this tag.',
  },
  'checking.too_many_rules': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 500 rules, 10 of them AI rules.',
  },
  'checking.rules_too_large': {
    status: 409,
    detail: 'text',
    means: 'The configurations of all rules can have at most 4 MiB together.',
  },
  'checking.too_many_tags': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 2,000 tags, whose texts have at most 2 MiB together.',
  },
  'custom_taxonomies.too_many': {
    status: 409,
    detail: 'text',
    means: 'There can be at most 5 custom taxonomies.',
  },
  'checking.built_in_rule': {
    status: 409,
    detail: 'text',
    means: 'The rule comes with Adsweep: it can be deactivated but not deleted.',
  },
  'checking.rule_test_batch_in_progress': {
    status: 429,
    detail: 'text',
    means: 'The organization already has a batch of rule tests running.',
  },
  'checking.rule_test_batch_timed_out': {
    status: 504,
    detail: 'text',
    means: 'The scans of the batch could not be read before its deadline; no rule was run.',
  },
  'checking.rule_test_timed_out': {
    status: 504,
    detail: 'text',
    means: 'The rule exceeded its time limit on this scan.',
  },
  'checking.scan_not_finished': {
    status: 409,
    detail: 'text',
    means: 'The scan is not finished, or its evidence has been removed.',
  },
  'lease.lost': {
    status: 409,
    detail: 'text',
    means: 'The lease has ended and can no longer change the scan; stop reporting on it.',
  },
  'node.blocked': {
    status: 403,
    detail: 'text',
    means: 'The operator has blocked this node; its leases went back to the queue.',
  },
  'storage.full': {
    status: 503,
    detail: 'text',
    means: 'The storage is full; nothing was stored. Try again later.',
  },
  'storage.quota_exhausted': {
    status: 429,
    detail: 'text',
    means:
      'The organization has stored as many ad tags and VAST documents, answers for an Idempotency-Key, OAuth tokens, or changes of its account and webhooks today (UTC) as it may in a day.',
  },
  unavailable: {
    status: 503,
    detail: 'text',
    means: 'A component that the operation needs is temporarily unavailable or overloaded; try again shortly.',
  },
} as const satisfies Record<string, { status: number; detail: 'items' | 'text'; means: string }>;

export type ErrorCode = keyof typeof ERRORS;

/** The types of field errors that have their own `code` (spec 7.1); all others share `validation_error`. */
const CODE_OF_TYPE: Record<string, ErrorCode> = {
  unsupported_country_code: 'scanning.unsupported_country_code',
  unknown_emulator_id: 'scanning.unknown_emulator_id',
  unsupported_proxy_region: 'scanning.unsupported_proxy_region',
  unsupported_proxy_city: 'scanning.unsupported_proxy_city',
  unsupported_proxy_isp: 'scanning.unsupported_proxy_isp',
  run_too_large: 'campaigns.run_too_large',
  transition_not_allowed: 'alerts.transition_not_allowed',
  private_entry: 'policies.private_entries',
  key_reused: 'idempotency.key_reused',
  invalid_override_combination: 'notifications.invalid_override_combination',
  invalid_label_routing_combination: 'notifications.invalid_label_routing_combination',
  mail_not_configured: 'notifications.mail_not_configured',
  system_slug_reserved: 'checking.system_slug_reserved',
};

/** A validated part of a request: the first element of each `loc`. */
export type RequestPart = 'body' | 'query' | 'path';

/** The code of a response with these issues: that of the first issue that has its own, else `validation_error`. */
export function codeOf(issues: Issue[]): ErrorCode {
  for (const { type } of issues) if (Object.hasOwn(CODE_OF_TYPE, type)) return CODE_OF_TYPE[type]!;
  return 'validation_error';
}
