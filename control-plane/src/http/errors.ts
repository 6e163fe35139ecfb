import type { Issue } from '@adsweep/shared/validation/issue.ts';

/**
 * A refusal of the API (spec 2.4, 7): its HTTP status, and whether `detail` of the response has items about fields;
 * absent: it is a text. `means` is the explanation in the API reference; `cure` is what the reader of the documents can
 * do.
 */
type Refusal = { status: number; detail?: 'items'; means: string; cure: string };

const CATALOGUE = {
  validation_error: {
    status: 422,
    detail: 'items',
    means: 'Fields are missing, unknown, invalid or mutually exclusive.',
    cure: 'Read `detail`: each item names a field (`loc`), what is wrong (`msg`), and for many the accepted values closest to yours (`ctx.valid_sample`). Unknown fields are refused too, so look for a misspelt name.',
  },
  'scanning.unsupported_country_code': {
    status: 422,
    detail: 'items',
    means: 'No exit serves this country.',
    cure: 'Ask `GET /api/v1/geos` for the countries that can be scanned from. The operator adds exits in the exits file.',
  },
  'scanning.unknown_emulator_id': {
    status: 422,
    detail: 'items',
    means: 'There is no such device emulator.',
    cure: 'Ask `GET /api/v1/emulators` for the ids; the item lists the closest ones.',
  },
  'scanning.unsupported_proxy_region': {
    status: 422,
    detail: 'items',
    means: 'The country has no such region in this pool.',
    cure: 'Ask `GET /api/v1/proxy/targeting` for the regions of the country and the type of exit.',
  },
  'scanning.unsupported_proxy_city': {
    status: 422,
    detail: 'items',
    means: 'The country has no such city in this pool.',
    cure: 'Ask `GET /api/v1/proxy/targeting` for the cities of the country and the type of exit.',
  },
  'scanning.unsupported_proxy_isp': {
    status: 422,
    detail: 'items',
    means: 'The country has no such ISP in this pool.',
    cure: 'Ask `GET /api/v1/proxy/targeting` for the ISPs of the country and the type of exit.',
  },
  'scanning.search_timed_out': {
    status: 504,
    means: 'The search of the list takes too long; further filters make it shorter.',
    cure: 'Add a filter, such as `date_from`, `status` or `campaign_id`, or search for a longer part of the URL.',
  },
  'scanning.part_of_sweep': {
    status: 409,
    means: 'The scan of a discovered ad cannot be cancelled, nor can a sweep that has found ads.',
    cure: 'Cancel the sweep before it has found ads, or let it end.',
  },
  'idempotency.key_reused': {
    status: 422,
    detail: 'items',
    means: 'The Idempotency-Key was sent before with another body.',
    cure: 'Send a new `Idempotency-Key` for a new request; send the same body to get the first response again.',
  },
  'idempotency.in_progress': {
    status: 409,
    means: 'The first request with this Idempotency-Key is still running.',
    cure: 'Wait as long as `Retry-After` says and send the same request again.',
  },
  unauthorized: {
    status: 401,
    means: 'The credential is missing or not valid.',
    cure: 'Send `Authorization: Bearer <API_KEY>`. If you do: the key was revoked or has expired, or it belongs to another deployment.',
  },
  forbidden: {
    status: 403,
    means: 'The credential lacks the permission named in `detail`.',
    cure: 'Use a key with that permission, or ask somebody who may create keys for one. A key never has more permissions than the key that created it.',
  },
  rate_limited: {
    status: 429,
    means:
      'The organization has used up its requests of this minute, or is sending or reading too many large bodies at once.',
    cure: 'Wait as long as `Retry-After` says. `RateLimit-Remaining` tells how many requests are left; the operator sets `requests_per_minute`.',
  },
  not_found: {
    status: 404,
    means: 'It does not exist, or it belongs to another organization.',
    cure: 'Check the id and the key: what belongs to another organization is answered the same. A scan may have been removed after the time for which scans are kept: its alerts, events and ledger entries still name it. The path is in the API reference.',
  },
  method_not_allowed: {
    status: 405,
    means: 'The path exists, but does not support this method.',
    cure: 'Use one of the methods in the header `Allow`.',
  },
  request_too_large: {
    status: 413,
    means: 'The body is larger than the operation allows.',
    cure: 'Send less: most bodies may have 1 MiB. Split a list into several requests.',
  },
  range_not_satisfiable: {
    status: 416,
    means: 'The requested range is outside the file.',
    cure: 'Ask for a range within `Content-Range`, or for the whole file.',
  },
  url_too_long: {
    status: 414,
    means: 'The URL has more than 24,576 characters.',
    cure: 'Shorten the query: filter by fewer ids, or in several requests.',
  },
  headers_too_large: {
    status: 431,
    means: 'The request line and headers are larger than 48 KiB.',
    cure: 'Send fewer or shorter headers; cookies and proxies in between add to them.',
  },
  bad_request: {
    status: 400,
    means: 'The request is not valid HTTP.',
    cure: 'Check the request line and the headers, or what a proxy in between makes of them.',
  },
  request_timeout: {
    status: 408,
    means: 'The request did not arrive completely in time.',
    cure: 'Send the request again; look at the connection and at proxies in between.',
  },
  unsupported_media_type: {
    status: 415,
    means: 'The body is compressed; send it uncompressed.',
    cure: 'Send the body without `Content-Encoding`.',
  },
  internal_error: {
    status: 500,
    means: 'An internal error; the log of the service has its cause under the request id.',
    cure: 'Send it again once. If it fails again, give the operator the `X-Request-Id` of the response.',
  },
  'account.key_of_settings': {
    status: 409,
    means: 'The key is defined by the settings of the service and can only be changed there.',
    cure: 'Change `ADSWEEP_API_KEY` and restart the service.',
  },
  'account.too_many_keys': {
    status: 409,
    means: 'An organization can have at most 1,000 keys that are not revoked.',
    cure: 'Revoke keys that are not used any more.',
  },
  'account.too_many_oauth_clients': {
    status: 409,
    means: 'The organization has as many OAuth clients as it can have.',
    cure: 'Delete OAuth clients that are not used any more.',
  },
  'account.too_many_roles': {
    status: 409,
    means: 'An organization can have at most 100 roles.',
    cure: 'Create keys with one of the existing roles: roles cannot be deleted.',
  },
  'campaigns.archived': {
    status: 409,
    means: 'The campaign is archived: it cannot run or change, and no scan can join it.',
    cure: 'Restore it with `POST /api/v1/campaigns/{id}/unarchive`, or create another campaign.',
  },
  'campaigns.run_too_large': {
    status: 422,
    detail: 'items',
    means: 'Countries, devices and repeats make more than 10,000 scans.',
    cure: 'Take fewer countries, devices or repeats, or split the campaign.',
  },
  'campaigns.too_many': {
    status: 409,
    means: 'There can be at most 20,000 campaigns, whose settings and targets have at most 256 MiB together.',
    cure: 'Use an existing campaign, or shorten large ones. Archived ones count too.',
  },
  'runs.cancelled': {
    status: 409,
    means: 'The run is cancelled: no scan can join it.',
    cure: 'Start another run of the campaign.',
  },
  'campaign_groups.archived': {
    status: 409,
    means: 'The campaign group is archived.',
    cure: 'Restore the group with `POST /api/v1/campaign-groups/{id}/unarchive`, or use another one.',
  },
  'campaign_groups.is_default': {
    status: 409,
    means: 'The default group cannot be archived.',
    cure: 'Archive its campaigns one by one, or move them to another group first.',
  },
  'campaign_groups.too_many': {
    status: 409,
    means: 'There can be at most 1,000 campaign groups.',
    cure: 'Use an existing group: archived ones count too.',
  },
  'notifications.invalid_override_combination': {
    status: 422,
    detail: 'items',
    means: '`destination_ids` were sent with a `mode` other than `override`.',
    cure: 'Send `mode: override` with `destination_ids`, or leave these out.',
  },
  'notifications.invalid_label_routing_combination': {
    status: 422,
    detail: 'items',
    means: 'A `routing_label_key` was sent with the `mode` `silence`.',
    cure: 'Leave out `routing_label_key`, or choose another `mode`.',
  },
  'notifications.mail_not_configured': {
    status: 422,
    detail: 'items',
    means: 'The service has no mail server, so that destinations cannot be mail addresses.',
    cure: 'Ask the operator to set `ADSWEEP_SMTP_URL`, or use Slack or Telegram.',
  },
  'notifications.too_many_destinations': {
    status: 409,
    means: 'There can be at most 50 destinations of alerts.',
    cure: 'Delete destinations that are not used any more.',
  },
  'webhooks.too_many': {
    status: 409,
    means: 'There can be at most 20 webhook endpoints.',
    cure: 'Delete an endpoint, or let one endpoint receive several kinds of events.',
  },
  'alerts.transition_not_allowed': {
    status: 422,
    detail: 'items',
    means: 'An alert of this status cannot get the requested one.',
    cure: 'Read the alert again: somebody else may have changed it.',
  },
  'policies.private_entries': {
    status: 422,
    detail: 'items',
    means: 'Only platform tags, IAB categories, brands and AI categories can be shared.',
    cure: 'Remove entries about your own tags and taxonomies from the set, or keep it private.',
  },
  'policies.not_published': {
    status: 409,
    means:
      'The policy set is not published at the moment: no further campaign can be bound to it, and it cannot be taken down.',
    cure: "Wait for the operator's approval, or bind the campaign to another set.",
  },
  'policies.not_awaiting': {
    status: 409,
    means: 'The policy set does not await approval.',
    cure: 'Read the set again: it was decided already, or its request was withdrawn.',
  },
  'policies.changed': {
    status: 409,
    means: 'The policy set has another version than the one that was to be approved.',
    cure: 'Read the set again and decide about its present version.',
  },
  'policies.in_use': {
    status: 409,
    means: 'A campaign that is not archived is bound to the policy set.',
    cure: 'Bind these campaigns to another set first; `GET /api/v1/policy-sets/{id}/campaigns` lists them.',
  },
  'policies.too_many': {
    status: 409,
    means: 'There can be at most 500 policy sets, whose texts and entries have at most 32 MiB together.',
    cure: 'Delete sets that no campaign uses.',
  },
  'billing.suspended': {
    status: 403,
    means: 'The organization is not active: it can read its data but create nothing.',
    cure: 'Ask the operator to make the organization active again.',
  },
  'billing.quota_exhausted': {
    status: 403,
    means: 'The organization has fewer checks left this month than the request needs.',
    cure: 'Ask for less, wait for the next month (UTC), or ask the operator for a higher `checks_per_month`. `GET /api/v1/billing` tells what is left.',
  },
  'billing.insufficient_funds': {
    status: 403,
    means: 'The request costs more than the balance of the organization.',
    cure: 'Ask the operator to credit the organization. `?dry_run=true` tells the price without spending anything.',
  },
  'catalogue.not_ready': {
    status: 503,
    means: 'The targeting catalogue has not been read yet; try again shortly.',
    cure: 'Try again after `Retry-After`. If it lasts, the proxy-router cannot be reached, has no exits, or cannot read the catalogue of a provider, which may have the requested place.',
  },
  'checking.system_slug_reserved': {
    status: 422,
    detail: 'items',
    means: 'The slug belongs to a system tag.',
    cure: 'Choose another slug.',
  },
  'checking.tag_in_use': {
    status: 409,
    means: 'An active rule or a policy set uses this tag.',
    cure: 'Change or delete these rules and policy sets first, or archive the tag.',
  },
  'checking.too_many_rules': {
    status: 409,
    means: 'There can be at most 500 rules, 10 of them AI rules.',
    cure: 'Delete rules, or merge several into one: a rule can have many words and domains.',
  },
  'checking.rules_too_large': {
    status: 409,
    means: 'The configurations of all rules can have at most 4 MiB together.',
    cure: 'Shorten lists that have grown, or delete rules that are not active.',
  },
  'checking.too_many_tags': {
    status: 409,
    means: 'There can be at most 2,000 tags, whose texts have at most 2 MiB together.',
    cure: 'Delete tags that nothing uses, or shorten their descriptions.',
  },
  'custom_taxonomies.too_many': {
    status: 409,
    means: 'There can be at most 5 custom taxonomies.',
    cure: 'Delete a taxonomy, or change one that exists.',
  },
  'checking.built_in_rule': {
    status: 409,
    means: 'The rule comes with Adsweep: it can be deactivated but not deleted.',
    cure: 'Send `is_active: false` to switch it off.',
  },
  'checking.rule_test_batch_in_progress': {
    status: 429,
    means: 'The organization already has a batch of rule tests running.',
    cure: 'Wait for the first batch to end, as long as `Retry-After` says.',
  },
  'checking.rule_test_batch_timed_out': {
    status: 504,
    means: 'The scans of the batch could not be read before its deadline; no rule was run.',
    cure: 'Test on fewer scans.',
  },
  'checking.rule_test_timed_out': {
    status: 504,
    means: 'The rule exceeded its time limit on this scan.',
    cure: 'Make the rule cheaper: fewer alternatives, shorter repetitions, fewer targets.',
  },
  'checking.scan_not_finished': {
    status: 409,
    means: 'The scan is not finished, or its evidence has been removed.',
    cure: 'Wait until the scan has ended. Evidence is removed after `ADSWEEP_KEEP_EVIDENCE_DAYS`.',
  },
  'lease.lost': {
    status: 409,
    means: 'The lease has ended and can no longer change the scan; stop reporting on it.',
    cure: 'Nothing: the node drops the work, which runs again elsewhere. Many of these are a sign of nodes that pause, or of a slow network.',
  },
  'node.blocked': {
    status: 403,
    means: 'The operator has blocked this node; its leases went back to the queue.',
    cure: 'Unblock it with `POST /api/v1/fleet/nodes/{id}/unblock`, or stop it.',
  },
  'storage.full': {
    status: 503,
    means: 'The storage is full or has become read-only; nothing was stored. Try again later.',
    cure: 'Try again later. The operator frees space on the disk, lowers `ADSWEEP_KEEP_EVIDENCE_DAYS`, or repairs a disk that has become read-only.',
  },
  'storage.quota_exhausted': {
    status: 429,
    means:
      'The organization has stored as many ad tags and VAST documents, answers for an Idempotency-Key, OAuth tokens, rechecks, or changes of its account and webhooks, or sent as many test messages today (UTC) as it may in a day.',
    cure: 'Wait for the next day (UTC). Send a URL in place of a large document, reuse campaigns in place of copies, keep tokens until they expire, and recheck only the scans that a changed rule concerns.',
  },
  unavailable: {
    status: 503,
    means: 'A component that the operation needs is temporarily unavailable or overloaded; try again shortly.',
    cure: 'Try again after `Retry-After`. `/readyz` names what is missing.',
  },
} as const satisfies Record<string, Refusal>;

export type ErrorCode = keyof typeof CATALOGUE;

/** All refusals, by their codes. */
export const ERRORS: Readonly<Record<ErrorCode, Refusal>> = CATALOGUE;

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

/** The code of a response with these issues: that of the first issue that has its own, else `validation_error`. */
export function codeOf(issues: Issue[]): ErrorCode {
  for (const { type } of issues) if (Object.hasOwn(CODE_OF_TYPE, type)) return CODE_OF_TYPE[type]!;
  return 'validation_error';
}
