import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import type { Mailer } from '../../platform/mail.ts';
import { SecretError, type Secrets } from '../../platform/secrets.ts';
import type { AlertMessage } from './alert-message.ts';
import { type DestinationRecord, secretContext } from './destination.ts';
import type { SendOutcome } from './destination-health.ts';
import { sendByMail } from './email.ts';
import { sendToSlack } from './slack.ts';
import { sendToTelegram } from './telegram.ts';

export type SenderParts = {
  secrets: Secrets;
  mailer: Mailer | null;
  post: GuardedPost['post'];
  telegramApiUrl: string;
};

export type Destination = Pick<DestinationRecord, '_id' | 'channel' | 'secret' | 'telegram_chat_id' | 'email_address'>;

/** Sends a message to a destination by its channel. Rejects with the reason of `signal` alone. */
export type SendMessage = (
  destination: Destination,
  message: AlertMessage,
  signal?: AbortSignal,
) => Promise<SendOutcome>;

export function messageSender({ secrets, mailer, post, telegramApiUrl }: SenderParts): SendMessage {
  return async ({ _id, channel, secret, telegram_chat_id, email_address }, message, signal) => {
    try {
      const connection = secret === null ? '' : secrets.open(secret, secretContext(_id));
      if (channel === 'slack') return await sendToSlack(post, connection, message, signal);
      if (channel === 'email') return await sendByMail(mailer, email_address ?? '', message, signal);
      const target = { apiUrl: telegramApiUrl, token: connection, chatId: telegram_chat_id ?? 0 };
      return await sendToTelegram(target, message, signal);
    } catch (cause) {
      if (!(cause instanceof SecretError)) throw cause;
      return { sent: false, status: null, reason: 'the connection cannot be decrypted: set it again', cause };
    }
  };
}
