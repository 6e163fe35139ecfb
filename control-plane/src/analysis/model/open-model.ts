import type { CrawlingDomain } from '../../crawling/crawling.ts';
import type { Platform } from '../../platform/platform.ts';
import { PicturePool } from '../../scanning/artifacts/picture-pool.ts';
import { answerStore } from './answer-store.ts';
import { askModel } from './ask-model.ts';
import { type ModelSettings, openChat } from './chat.ts';
import { modelPicture } from './model-picture.ts';
import type { AskModel } from './question.ts';
import { type ShowModel, showModel } from './show-model.ts';

/** A model that can be asked about scans. */
export type Model = { ask: AskModel; show: ShowModel; close(): Promise<void> };

/** The model of these settings, with the answers that are remembered of it. Nothing is connected yet. */
export function openModel(
  { store, metrics, logger }: Pick<Platform, 'store' | 'metrics' | 'logger'>,
  { bodies, openPicture }: Pick<CrawlingDomain['verbs'], 'bodies' | 'openPicture'>,
  settings: ModelSettings,
): Model & { answers: ReturnType<typeof answerStore> } {
  const answers = answerStore(store);
  const pictures = new PicturePool();
  const pictureOf = settings.screenshot ? modelPicture(openPicture, pictures, logger) : null;
  return {
    answers,
    ask: askModel({ settings, chat: openChat(settings), answers, metrics, logger }),
    show: showModel({ bodies, pictureOf }),
    close: () => pictures.close(),
  };
}
