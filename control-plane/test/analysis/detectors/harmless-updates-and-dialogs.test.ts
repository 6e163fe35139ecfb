import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { observed, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 hints of old browsers and headlines that share words with fake updates and dialogs', () => {
  it('requirements of a site are no fake_update beside a download', () => {
    const html = '<a href="/files/form.zip">ダウンロード Download Baixar</a>';
    for (const text of [
      '推奨ブラウザ: Google Chrome 最新版、Safari 最新版',
      'ブラウザの更新ボタンを押さないでお待ちいただけますか。ブラウザの更新ボタン',
      'Use um navegador atualizado, como Chrome ou Firefox.',
      'Поддерживаются браузеры Chrome и Safari, обновление от 1 мая',
      'Desteklenen tarayıcılar, güncellenme tarihi: 1 Mayıs',
      'De lijst van browsers is bijgewerkt op 1 mei.',
      'Old versions of Google Chrome for Windows',
      'Firefox for Windows. An old version of Firefox is here too.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    for (const text of [
      'お使いのブラウザは最新ではありません。',
      'ブラウザを更新してください。',
      'Seu navegador está desatualizado.',
      'Требуется обновление браузера',
      'Tarayıcınızı güncelleyin',
    ])
      assert.deepEqual(slugsOf({ text, html }), ['fake_update'], text);
  });

  it('notes about a release, and advice to update an own app, are no fake_update beside its installer', () => {
    const html = '<a href="/App-installer.exe">App-installer.exe</a><a href="/app.apk">Download APK</a>';
    for (const text of [
      'Fixed: the media player is missing subtitles',
      'Fixed a crash with an outdated Chrome',
      'How to update: update your Android app when we publish a new version.',
      'Requirements: Windows 10, and update your browser to Chrome 100 or newer.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    assert.deepEqual(slugsOf({ text: 'Your Android browser is outdated', html }), ['fake_update']);
  });

  it('conditions, and statements about any browser, are no fake_update beside a program', () => {
    const html = '<a href="/sign.exe">Download Descargar Scarica Скачать indir ダウンロード</a>';
    for (const text of [
      'Wer einen veralteten Browser nutzt, riskiert seine Daten.',
      'An outdated browser is a risk.',
      'Un navigateur obsolète est dangereux.',
      'Si su navegador está desactualizado, la firma no funciona.',
      'Se il browser non è aggiornato, la firma non funziona.',
      'Обновите страницу в браузере',
      'Если браузер устарел, подпись не работает.',
      'Tarayıcınız güncel değilse e-imza çalışmaz.',
      'お使いのブラウザが古い場合は表示されません。',
      'Update your media player to the latest firmware.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    for (const text of [
      'Sie verwenden einen veralteten Browser',
      'Su navegador está desactualizado',
      'Atualize o navegador e acesse o vídeo',
      'Обновите браузер',
    ])
      assert.deepEqual(slugsOf({ text, html }), ['fake_update'], text);
  });

  it('advice of a bank to keep a browser new is no fake_update beside its own program', () => {
    const html =
      '<a href="/files/e-banking-setup.exe">Download</a><a href="/files/x.exe">Télécharger herunterladen</a>';
    for (const text of [
      'For your safety, update your browser regularly.',
      'Aktualisieren Sie Ihren Browser regelmäßig.',
      'Pensez à mettre à jour régulièrement votre navigateur.',
    ])
      assert.deepEqual(slugsOf({ text, html }), [], text);
    assert.deepEqual(slugsOf({ text: 'Update your browser to continue.', html }), ['fake_update']);
  });

  it('a document to download beside the hint of an old browser is no fake_update', () => {
    const text = 'Your browser is out of date.';
    const link = (attributes: string) => slugsOf({ text, html: `<a ${attributes}>Download the brochure</a>` });
    assert.deepEqual(link('href="/brochure.pdf" download=""'), []);
    assert.deepEqual(link('href="/get?id=1" download="brochure.pdf"'), []);
    assert.deepEqual(link('href="/brochure.pdf" download="setup.exe"'), ['fake_update']);
    assert.deepEqual(link('href="/get?id=1" download=""'), ['fake_update']);
  });

  it('headlines of news are no fake_system_dialog', () => {
    const slugs = (text: string, buttons: string[]) => slugsOf({}, [observed('dialog_box', { text, buttons })]);
    const headline = 'New macOS malware detected in forty applications of the store';
    assert.deepEqual(slugs(`Security\n${headline}\nBy A. Writer`, ['Security', headline, 'A. Writer']), []);
    assert.deepEqual(slugs(headline, [headline.slice(0, 60)]), []);
    assert.deepEqual(slugs('Shop.com says it sells less this year\nRead more', ['Read more']), []);
    assert.deepEqual(slugs('www.shop.example says:\nYou have won.', ['OK']), ['fake_system_dialog']);
    assert.deepEqual(slugs('macOS malware detected in forty applications\nBy A. Writer', ['Read more']), []);
    const hero = 'Security for Windows and macOS\nThreats detected: see the list';
    assert.deepEqual(slugs(hero, ['Free trial']), []);
    assert.deepEqual(slugs('macOS, protected\n2 million threats detected every day', ['Free trial']), []);
    const dialog = 'macOS security\nMalware detected';
    assert.deepEqual(slugs(dialog, ['Remove now']), ['fake_system_dialog']);
    assert.deepEqual(slugs(dialog, [dialog]), ['fake_system_dialog']);
  });

  it('a vendor that offers its own program beside the hint of an old browser is no fake_update', () => {
    const url = 'https://www.acme-editor.example/';
    const hint = 'Your browser is out of date. Update your browser to see everything.\nAcme Editor 5.1';
    const slugs = (html: string, text = hint) => slugsOf({ url, text, html });
    assert.deepEqual(slugs('<a href="/files/acme-editor-5.1.exe">Download for Windows</a>'), []);
    assert.deepEqual(slugs('<a href="https://files.example/AcmeEditor.dmg">Download Acme Editor</a>'), []);
    assert.deepEqual(slugs('<a href="/get?id=1" download="">Acme Editor herunterladen</a>'), []);
    for (const html of [
      '<a href="/files/setup.exe">Download</a>',
      '<a href="https://files.example/acme-editor-5.1.exe">Download</a>',
      '<a href="/files/acme-editor-5.1.exe">Update now</a>',
      '<a href="/files/acme-editor-chrome.exe">Download for Windows</a>',
    ])
      assert.deepEqual(slugs(html), ['fake_update'], html);
    const prompt = {
      text: 'Your browser is out of date.',
      html: '<a href="/browser-fix.exe">Download Browser Fix</a>',
    };
    assert.deepEqual(slugsOf({ ...prompt, url: 'https://browser-fix.example/' }), ['fake_update']);
    const saved = (file_name: string) =>
      slugsOf({ url, text: hint }, [
        observed('auto_download', { file_name, file_url: `${url}files/${file_name}` }, 0, url),
      ]);
    assert.deepEqual(saved('acme-editor-5.1.exe'), ['auto_download']);
    assert.deepEqual(saved('setup.exe'), ['auto_download', 'fake_update']);
  });
});
