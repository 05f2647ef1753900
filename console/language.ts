/**
 * A system may name its language in a form that browsers reject ("en-US@posix"). Formatting in that language would
 * throw.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
