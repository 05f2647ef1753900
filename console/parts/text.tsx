import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

/** Describes a time relative to now, to be shown beside the exact time. */
function ago(at: string, now = Date.now()): string {
  const seconds = Math.round((now - Date.parse(at)) / 1000);
  if (!Number.isFinite(seconds)) return at;
  const [much, unit] = inUnit(Math.abs(seconds));
  // The clocks of the browser and the server may differ by this much.
  if (Math.abs(seconds) < 5) return 'now';
  return seconds < 0 ? `in ${much} ${unit}` : `${much} ${unit} ago`;
}

function inUnit(seconds: number): [number, string] {
  if (seconds < 90) return [seconds, 's'];
  if (seconds < 5_400) return [Math.round(seconds / 60), 'min'];
  if (seconds < 129_600) return [Math.round(seconds / 3_600), 'h'];
  return [Math.round(seconds / 86_400), 'd'];
}

export function Time({ at }: { at: string | null | undefined }) {
  void tick.value;
  if (at == null) return <span class="quiet">—</span>;
  return (
    <time dateTime={at} title={at}>
      {ago(at)}
    </time>
  );
}

/** Shows only the ends of a long id or hash. The tooltip has the whole text. */
export function Short({ text }: { text: string | null | undefined }) {
  if (text == null || text === '') return <span class="quiet">—</span>;
  const shown = text.length > 20 ? `${text.slice(0, 8)}…${text.slice(-8)}` : text;
  return (
    <code title={text} class="short">
      {shown}
    </code>
  );
}

/** A number with its noun, in the singular or plural. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

const TONES: Record<string, string> = {
  confirmed: 'good',
  serving: 'good',
  delivered: 'good',
  returned: 'good',
  active: 'good',
  healthy: 'good',
  pending: 'waiting',
  sent: 'waiting',
  submitted: 'moving',
  mined: 'moving',
  waiting: 'waiting',
  running: 'moving',
  'paused-by-throws': 'bad',
  compiling: 'moving',
  paused: 'waiting',
  degraded: 'waiting',
  'backing-off': 'bad',
  canceled: 'quiet',
  failed: 'bad',
  expired: 'bad',
  broken: 'bad',
  dead: 'bad',
  disabled: 'bad',
  unhealthy: 'bad',
  threw: 'bad',
  critical: 'bad',
  warning: 'waiting',
  ready: 'good',
  limited: 'waiting',
  unfit: 'bad',
  'not asked yet': 'quiet',
};

/** Shows a state as a word and a colour. */
export function Badge({ state, title }: { state: string; title?: string | undefined }) {
  return (
    <span class={`badge ${TONES[state] ?? (/^[A-Z_]+$/.test(state) ? 'bad' : 'quiet')}`} title={title}>
      {state}
    </span>
  );
}

/** A note shown in place of missing content. */
export function Note({ children, kind = 'quiet' }: { children: ComponentChildren; kind?: 'quiet' | 'bad' }) {
  return (
    <p class={`note ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {children}
    </p>
  );
}

const EVERY_MS = 5_000;

/** Rises every few seconds while the page is visible. Components that read it show times anew. */
const tick = signal(0);

function next(): void {
  if (document.visibilityState === 'visible') tick.value += 1;
}

setInterval(next, EVERY_MS);

document.addEventListener('visibilitychange', next);

/** Formats a duration for people. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 120_000) return `${(milliseconds / 1_000).toFixed(1)} s`;
  return `${Math.round(milliseconds / 60_000)} min`;
}
