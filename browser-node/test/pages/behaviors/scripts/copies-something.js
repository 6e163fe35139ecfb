document.addEventListener('click', () => navigator.clipboard.writeText('a command'));
