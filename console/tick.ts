import { signal } from '@preact/signals';

const EVERY_MS = 5_000;

/** Rises every few seconds while the page is visible. Components that read it show times anew. */
export const tick = signal(0);

function next(): void {
  if (document.visibilityState === 'visible') tick.value += 1;
}

setInterval(next, EVERY_MS);
document.addEventListener('visibilitychange', next);
