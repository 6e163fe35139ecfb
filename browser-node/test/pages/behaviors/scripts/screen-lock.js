Object.assign(window, {
  react: () => document.documentElement.requestFullscreen().catch(() => undefined),
});
