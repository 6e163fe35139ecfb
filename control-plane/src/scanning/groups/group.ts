import { derivedId } from '@adsweep/shared/ids.ts';

/** A group of an organization's campaigns. */
export type GroupRecord = {
  _id: string;
  organization_id: string;
  name: string;
  /** The group of campaigns that name none. Every organization has one, which is never archived. */
  is_default: boolean;
  is_archived: boolean;
  /** The schedules of its campaigns do not fire. */
  schedule_paused: boolean;
  created_at: Date;
};

/**
 * The id of an organization's default group. It follows from the organization, so that there is one whoever stores it
 * first.
 */
export const defaultGroupId = (organizationId: string): string => derivedId(`default-group/${organizationId}`, 0);

/** The default group of an organization, as it is before a client changes it. */
export const defaultGroup = (organization_id: string, now: Date): GroupRecord => ({
  ...newGroup(defaultGroupId(organization_id), organization_id, 'Default', now),
  is_default: true,
});

export const newGroup = (_id: string, organization_id: string, name: string, now: Date): GroupRecord => ({
  _id,
  organization_id,
  name,
  is_default: false,
  is_archived: false,
  schedule_paused: false,
  created_at: now,
});
