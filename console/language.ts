/**
 * A system may name its language in a form that browsers reject ("en-US@posix"). Formatting in that language would
 * throw, also while the plot library is loaded. So this module is imported before all others.
 */
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' });
}
