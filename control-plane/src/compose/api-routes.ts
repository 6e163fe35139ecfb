import { readFileSync } from 'node:fs';
import { Type } from 'typebox';
import { type AccountParts, accountRoutes } from '../accounts/account/account-routes.ts';
import { type AuditParts, auditRoutes } from '../accounts/audit/audit-routes.ts';
import { billingRoutes, type ReadLedger } from '../accounts/billing/routes.ts';
import { type UsageParts, usageRoutes } from '../accounts/billing/usage-routes.ts';
import { type KeyParts, keyRoutes } from '../accounts/keys/key-routes.ts';
import { type OrganizationParts, organizationRoutes } from '../accounts/organizations/organization-routes.ts';
import { type IsActive, whereActive } from '../accounts/organizations/require-active.ts';
import { type RoleParts, roleRoutes } from '../accounts/roles/role-routes.ts';
import { ruleRoutes } from '../analysis/rules/routes.ts';
import type { RuleVerbParts } from '../analysis/rules/rule-verbs.ts';
import { type RuleTestRouteParts, ruleTestRoutes } from '../analysis/rules/test-routes.ts';
import { type TaxonomyParts, taxonomyRoutes } from '../analysis/taxonomies/routes.ts';
import { type FleetVerbs, fleetRoutes } from '../crawling/fleet/fleet-routes.ts';
import type { Caller } from '../http/caller.ts';
import { idempotentWhereCreating } from '../http/idempotent.ts';
import { openapi } from '../http/openapi.ts';
import { ok, type Route, route } from '../http/route.ts';
import { catalogueRoutes } from '../reference/catalogue/routes.ts';
import { type TagParts, tagRoutes } from '../reference/tags/routes.ts';
import type { PicturePool } from '../scanning/artifacts/picture-pool.ts';
import { type ArtifactSource, artifactRoutes } from '../scanning/artifacts/routes.ts';
import { type ReportSources, reportRoutes } from '../scanning/reports/routes.ts';
import { type ScanParts, scanRoutes } from '../scanning/scans/api/routes.ts';

export type ApiParts = ScanParts &
  TagParts &
  RuleVerbParts &
  RuleTestRouteParts &
  TaxonomyParts &
  FleetVerbs &
  KeyParts &
  OrganizationParts &
  AccountParts &
  RoleParts &
  AuditParts &
  UsageParts & {
    isActive: IsActive;
    artifacts: ArtifactSource;
    pictures: PicturePool;
    readLedger: ReadLedger;
    reports: ReportSources;
  };

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const DESCRIPTION = `Checks of advertising creatives: a real browser loads a page from a country and a device of your choice, follows
where it leads, and says what it found.

Every request carries \`Authorization: Bearer <API_KEY>\`. Times are ISO 8601, money is integer micros, lists are pages. Refused fields
are answered together, as 422 with one item each.`;

const GROUPS = {
  Scans: 'Checks of one target each: created, followed, listed and cancelled.',
  Artifacts: 'What was captured of a scan, under the same authorization as everything else.',
  Reference: 'What a scan can ask for, and this document.',
  Tags: 'What can be found of a scan.',
  Account: 'Your organization, its keys, roles and labels, and who changed them.',
  'Custom rules': 'Conditions of your own that assign tags.',
  'Custom taxonomies': 'Categories of your own, by which a model classifies your scans.',
  Organizations: 'The organizations of this deployment, for its operator.',
  Billing: 'What was used, charged and given back, and what is left.',
  Fleet: 'The browser nodes, for the operator.',
};

/** Every operation of the API with the document that describes them, and the public reports, which are for people. */
export function apiRoutes(parts: ApiParts): Route<Caller>[] {
  const routes = whereActive(
    idempotentWhereCreating(
      [
        ...scanRoutes(parts),
        ...artifactRoutes(parts.artifacts, parts.pictures),
        ...catalogueRoutes(parts.readCatalogue),
        ...tagRoutes(parts),
        ...accountRoutes(parts),
        ...keyRoutes(parts),
        ...roleRoutes(parts),
        ...auditRoutes(parts),
        ...ruleRoutes(parts),
        ...ruleTestRoutes(parts),
        ...taxonomyRoutes(parts),
        ...organizationRoutes(parts),
        ...usageRoutes(parts),
        ...billingRoutes(parts.readLedger),
        ...fleetRoutes(parts),
      ],
      parts.idempotency,
    ),
    parts.isActive,
  );
  return [...routes, documentRoute(routes, parts.publicUrl), ...reportRoutes(parts.reports)];
}

function documentRoute(routes: Route<Caller>[], publicUrl: string): Route<Caller> {
  const own = route<Caller>({
    method: 'GET',
    path: '/api/v1/openapi.json',
    group: 'Reference',
    summary: 'This document',
    permission: 'none',
    replies: {
      200: { description: 'OpenAPI 3.1.', schema: Type.Object({}, { additionalProperties: true }) },
    },
    handle: () => ok(document, { 'Cache-Control': 'max-age=300' }),
  });
  const document = openapi([...routes, own] as Route<never>[], {
    title: 'Adsweep API',
    version,
    description: DESCRIPTION,
    publicUrl,
    groups: GROUPS,
  });
  return own;
}
