import type { Phrase } from './phrase.ts';

const PRODUCTS = [
  ...[
    'chrome',
    'firefox',
    'microsoft edge',
    'safari',
    'browser',
    'flash player',
    'video player',
    'media player',
    'codec',
  ],
  ...[
    'your windows',
    'your android',
    'webview',
    'navigateur',
    'navegador',
    'браузер',
    'przeglądark',
    'tarayıcı',
    'ブラウザ',
  ],
];
/** That a part of the visitor's browser or system is old or missing. By language: English, German, French, Spanish, ... */
export const OLD_PARTS: readonly Phrase[] = [
  [
    ...[
      'out of date',
      'outdated',
      'out-of-date',
      'not up to date',
      'needs to be updated',
      'must be updated',
      'update required',
    ],
    ...['update is required', 'critical update', 'urgent update', 'old version', 'is missing', 'update your'],
  ],
  [
    'veraltet',
    'nicht aktuell',
    'muss aktualisiert',
    'fehlt',
    'update erforderlich',
    'aktualisieren sie',
    'aktualisierung erforderlich',
  ],
  ['obsolète', "n'est pas à jour", 'mettre à jour', 'mise à jour requise', 'mettez à jour', 'manquant'],
  ['desactualizad', 'obsolet', 'actualice', 'actualiza tu', 'falta ', 'atualize', 'atualizad', 'atualização'],
  ['non è aggiornato', 'obsoleto', 'aggiorna ', 'aggiornamento richiesto', 'verouderd', 'nieste', 'bijgewerkt'],
  [
    'nieaktualn',
    'zaktualizuj',
    'устарел',
    'обновите',
    'обновление',
    'güncel değil',
    'güncelle',
    '古い',
    '更新',
    '最新',
  ],
].map((states) => ({ all: [states, PRODUCTS], unless: ['?', 'if ', 'wenn ', 'falls '] }));
