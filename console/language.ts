/** A system may call its language as no browser does ("en-US@posix"); what formats by it would throw. */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
