import { newId } from '@adsweep/shared/ids.ts';
import type { Collection, Store } from '../../platform/store.ts';
import { type CampaignRecord, TARGET_FIELD } from './campaign.ts';

type TargetText = { _id: string; organization_id: string; text: string };

/** Longer targets are stored separately, so that lists do not read them. */
const OWN_TEXT_MAX = 4_096;

/** The long targets of campaigns. A change never alters a text in use: each is stored under an id of its own. */
export function campaignTexts(store: Store) {
  const texts: Collection<TargetText> = store.collection<TargetText>('campaign_targets');
  const remove = async (organization_id: string, _id: string) => void (await texts.deleteOne({ _id, organization_id }));

  return {
    remove,

    /**
     * Writes a campaign whose target, if it is long, is stored before it. `write` gets the campaign as it is stored and
     * resolves to whether it wrote it; if not, its text is removed again.
     */
    async writeWith(campaign: CampaignRecord, write: (stored: CampaignRecord) => Promise<boolean>): Promise<boolean> {
      const { target_text_id: _, ...whole } = campaign;
      const field = TARGET_FIELD[campaign.campaign_type];
      const text = campaign[field] ?? '';
      if (text.length <= OWN_TEXT_MAX) return write(whole);
      const { organization_id } = campaign;
      const target_text_id = newId();
      await texts.insertOne({ _id: target_text_id, organization_id, text });
      const isWritten = await write({ ...whole, [field]: '', target_text_id });
      if (!isWritten) await remove(organization_id, target_text_id);
      return isWritten;
    },

    /** The campaign with its complete target; null: its text is missing. */
    async withText(campaign: CampaignRecord): Promise<CampaignRecord | null> {
      const { target_text_id, organization_id, campaign_type } = campaign;
      if (target_text_id === undefined) return campaign;
      const found = await texts.findOne({ _id: target_text_id, organization_id });
      return found && { ...campaign, [TARGET_FIELD[campaign_type]]: found.text };
    },
  };
}
