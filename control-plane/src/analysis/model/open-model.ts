import type { CrawlingDomain } from '../../crawling/crawling.ts';
import type { Platform } from '../../platform/platform.ts';
import { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import { answerStore } from './answer-store.ts';
import { askModel } from './ask-model.ts';
import { type ModelSettings, openChat } from './chat.ts';
import type { AskModel } from './question.ts';
import { type ShowModel, screenshots, showModel } from './show-model.ts';

/** A model that can be asked about scans. */
export type Model = { ask: AskModel; show: ShowModel; close(): Promise<void> };

/** The model of these settings and the store of its answers. Opens no connection. */
export function openModel(
  { store, metrics, logger }: Pick<Platform, 'store' | 'metrics' | 'logger'>,
  { findPicture }: Pick<CrawlingDomain['verbs'], 'findPicture'>,
  settings: ModelSettings,
): Model & { answers: ReturnType<typeof answerStore> } {
  const answers = answerStore(store);
  const pictures = new PicturePool();
  return {
    answers,
    ask: askModel({ settings, chat: openChat(settings), answers, metrics, logger }),
    show: showModel(settings.screenshot ? screenshots(findPicture, pictures, logger) : null),
    close: () => pictures.close(),
  };
}
