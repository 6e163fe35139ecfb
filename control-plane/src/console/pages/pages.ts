import type { PageRoute } from '../visit.ts';
import { act } from './act.ts';
import { alertList, decideAll, decideAllNow, decideSelected } from './alerts.ts';
import { auditPage } from './audit.ts';
import { editCampaign, newCampaign, saveCampaign } from './campaign-form.ts';
import { campaignList, campaignPage } from './campaigns.ts';
import { createDestination, destinationList } from './destinations.ts';
import { fleetPage } from './fleet.ts';
import { nowPage } from './now.ts';
import {
  createOrganization,
  createOrganizationKey,
  organizationPage,
  organizationsPage,
  saveOrganization,
} from './organizations.ts';
import { newPolicy, policyList, policyPage, savePolicy } from './policies.ts';
import { createTaxonomy, newRule, ruleList, rulePage, saveRule } from './rules.ts';
import { runCompare, runPage } from './runs.ts';
import { bulkCreate, bulkForm } from './scans/bulk-page.ts';
import { comparePage } from './scans/compare-page.ts';
import { scanList } from './scans/list-page.ts';
import { createScan, newScan } from './scans/new-page.ts';
import { scanFiles, scanThumbnail } from './scans/scan-files.ts';
import { scanPage } from './scans/scan-page.ts';
import { saveSettings, settingsPage } from './settings.ts';
import { usageCsv, usagePage } from './usage.ts';
import { createWebhook, newWebhook, replayRange, rotateSecret, webhookList, webhookPage } from './webhooks.ts';

/** The pages of the console. A path without parameters goes before one that would match it too. */
export const PAGES: PageRoute[] = [
  act,
  nowPage,
  scanList,
  newScan,
  createScan,
  bulkForm,
  bulkCreate,
  comparePage,
  scanPage,
  scanThumbnail,
  ...scanFiles,
  alertList,
  decideSelected,
  decideAll,
  decideAllNow,
  campaignList,
  newCampaign,
  ...saveCampaign,
  campaignPage,
  editCampaign,
  runPage,
  runCompare,
  ruleList,
  createTaxonomy,
  newRule,
  ...saveRule,
  rulePage,
  policyList,
  newPolicy,
  ...savePolicy,
  policyPage,
  webhookList,
  newWebhook,
  createWebhook,
  webhookPage,
  replayRange,
  rotateSecret,
  destinationList,
  createDestination,
  usagePage,
  usageCsv,
  fleetPage,
  organizationsPage,
  createOrganization,
  organizationPage,
  saveOrganization,
  createOrganizationKey,
  settingsPage,
  saveSettings,
  auditPage,
];
