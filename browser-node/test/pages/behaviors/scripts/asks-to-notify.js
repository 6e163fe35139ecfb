document.addEventListener('click', ({ target }) => {
  if (target instanceof HTMLButtonElement) Notification.requestPermission();
});
