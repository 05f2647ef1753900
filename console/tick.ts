import { signal } from '@preact/signals';

const EVERY_MS = 5_000;

/** Rises every few seconds while somebody looks: whoever reads it tells the time anew. */
export const tick = signal(0);

function next(): void {
  if (document.visibilityState === 'visible') tick.value += 1;
}

setInterval(next, EVERY_MS);
document.addEventListener('visibilitychange', next);
