import type { Brand } from '../brands.ts';
import { hasWord } from './brand-mentions.ts';

/**
 * Words of a title that name no brand: the rest is the name that the page claims. By language: English, German, French,
 * Spanish, ...
 */
const NAMELESS = new Set(
  (
    'sign in log on login logon signin to your the my a an of for and with account accounts secure security verify verification verified ' +
    'confirm confirmation update online customer center centre portal page welcome official id password web app mail email support help ' +
    'bank banking wallet billing payment home international service services com tracking track delivery redelivery package parcel shipment required unusual activity restore unlock ' +
    'anmelden anmeldung einloggen konto ihr dein bei kunden sicherheit bestätigen willkommen ' +
    'connexion se connecter votre compte mon à bienvenue sécurité iniciar sesión su tu cuenta acceder inicio bienvenido ' +
    'de sendung sendungsverfolgung paket zustellung lieferung zoll zahlung suivi colis livraison paiement seguimiento paquete envío entrega pago ' +
    'spedizione pacco consegna pagamento rastreamento encomenda pagamento pakket zending bezorging betaling przesyłka paczka reschedule fee trace ' +
    'accedi accesso il tuo conto al entrar sua conta no na acesso inloggen uw mijn bij rekening zaloguj się do lub konto вход войти в или аккаунт ' +
    'giriş yap yapın veya ログイン サインイン にログイン アカウント 登录 登入 登錄 账号 帳號 로그인 계정 ' +
    'or up into enter continue register create new personal private internet manage access identity e status address pending results alert ' +
    'oder registrieren sie sich ein loggen mein meine inicia inicie regístrate crear o ou u connectez vous ' +
    'identifiez inscrivez accéder mes comptes espace client personnel particuliers'
  ).split(' '),
);

/** Whether a title names the brand and nothing else. */
export function isTitleOf({ words }: Brand, title: string): boolean {
  const own = words.find((word) => hasWord(title, word));
  if (!own) return false;
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), title).split(/[^\p{L}\p{N}]+/u);
  return rest.every((word) => word === '' || NAMELESS.has(word) || /^\d+$/.test(word));
}
