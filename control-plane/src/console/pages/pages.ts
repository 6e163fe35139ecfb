import type { PageRoute } from '../visit.ts';
import { act } from './act.ts';
import { alertList, decideAll, decideAllNow, decideSelected } from './alerts.ts';
import { editCampaign, newCampaign, saveCampaign } from './campaign-form.ts';
import { campaignList, campaignPage, runCompare, runPage } from './campaigns.ts';
import { createOrganization, fleetPage, organizationPage, organizationsPage, saveOrganization } from './fleet.ts';
import { nowPage } from './now.ts';
import {
  createTaxonomy,
  newPolicy,
  newRule,
  policyList,
  policyPage,
  ruleList,
  rulePage,
  savePolicy,
  saveRule,
} from './rules.ts';
import { bulkCreate, bulkForm } from './scans/bulk-page.ts';
import { scanList } from './scans/list-page.ts';
import { createScan, newScan } from './scans/new-page.ts';
import { comparePage, scanFiles, scanPage } from './scans/scan-page.ts';
import { auditPage, saveSettings, settingsPage } from './settings.ts';
import { usageCsv, usagePage } from './usage.ts';
import {
  createDestination,
  createWebhook,
  destinationList,
  newWebhook,
  replayRange,
  rotateSecret,
  webhookList,
  webhookPage,
} from './webhooks.ts';

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
  settingsPage,
  saveSettings,
  auditPage,
];
