import type { Permission } from '../../http/caller.ts';

/** The pages of the navigation, each for those who have one of its permissions. */
export const NAVIGATION: { path: string; label: string; for: Permission[]; icon: string }[] = [
  { path: '', label: 'Now', for: ['scans.read', 'alerts.read', 'webhooks.manage'], icon: 'M4 12h4l2-6 4 12 2-6h4' },
  { path: '/scans', label: 'Scans', for: ['scans.read', 'scans.write'], icon: 'M4 6h16M4 12h16M4 18h10' },
  {
    path: '/alerts',
    label: 'Alerts',
    for: ['alerts.read'],
    icon: 'M12 4a5 5 0 0 0-5 5v4l-2 3h14l-2-3V9a5 5 0 0 0-5-5ZM10 19h4',
  },
  { path: '/campaigns', label: 'Campaigns', for: ['campaigns.read'], icon: 'M5 5h14v14H5ZM5 10h14M10 10v9' },
  { path: '/rules', label: 'Rules', for: ['scans.read'], icon: 'M8 5 4 12l4 7M16 5l4 7-4 7' },
  { path: '/policies', label: 'Policy sets', for: ['policies.read'], icon: 'M12 4l7 3v5c0 4-3 7-7 8-4-1-7-4-7-8V7Z' },
  {
    path: '/webhooks',
    label: 'Webhooks',
    for: ['webhooks.manage'],
    icon: 'M6 17a3 3 0 1 0 3 3M12 4a3 3 0 0 1 3 5l3 6M9 9l-3 6',
  },
  { path: '/destinations', label: 'Destinations', for: ['alert_notifications.manage'], icon: 'M4 12l16-7-5 15-3-6Z' },
  { path: '/usage', label: 'Usage', for: ['billing.read'], icon: 'M5 19V9M12 19V5M19 19v-7' },
  { path: '/fleet', label: 'Fleet', for: ['fleet.read'], icon: 'M4 5h16v6H4ZM4 13h16v6H4ZM8 8h1M8 16h1' },
  {
    path: '/organizations',
    label: 'Organizations',
    for: ['organizations.manage'],
    icon: 'M4 20V8l8-4 8 4v12M9 20v-6h6v6',
  },
  {
    path: '/settings',
    label: 'Settings',
    for: ['account.manage'],
    icon: 'M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM12 3v3M12 18v3M3 12h3M18 12h3',
  },
];

/** The first page of the navigation that somebody with these permissions can see; null: none. */
export const firstPath = (may: (permission: Permission) => boolean): string | null =>
  NAVIGATION.find((entry) => entry.for.some(may))?.path ?? null;
