import type { Schemas } from '../../client/api.ts';
import { priceOf } from '../../client/attempt-price.ts';
import { eventName } from '../../client/timeline-words.ts';
import { plain } from './rows.ts';

type Event = Schemas['TimelineEvent'];

const WIDTH = 40;

/** Formats a timeline: for each event, its time after the first event as a number and a bar, and its text. */
export function timelineText({ events }: Pick<Schemas['Timeline'], 'events'>): string[] {
  const times = events.map(({ at }) => Date.parse(at));
  const [begin = 0] = times;
  const length = Math.max((times.at(-1) ?? begin) - begin, 1);
  return events.map((event, index) => {
    const after = (times[index] ?? begin) - begin;
    const place = Math.round((after / length) * (WIDTH - 1));
    const bar = `${'─'.repeat(place)}●${' '.repeat(WIDTH - 1 - place)}`;
    return `${afterText(after).padStart(9)}  ${bar}  ${plain(textOf(event))}`.trimEnd();
  });
}

function afterText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  return milliseconds < 120_000 ? `${(milliseconds / 1_000).toFixed(1)} s` : `${Math.round(milliseconds / 60_000)} min`;
}

function textOf(event: Event): string {
  switch (event.event) {
    case 'signed':
      return `signed, version ${event.version} (${event.purpose}) ${event.hash} ${priceOf(event.content)}`;
    case 'submitted':
      return `submitted, version ${event.version}${event.endpoint === undefined ? '' : ` to ${event.endpoint}`}`;
    case 'decided':
      return `${eventName(event)}: ${event.text}`;
    case 'ended':
      return `${event.status}${event.text === undefined ? '' : `: ${event.text}`}`;
    case 'cancel_refused':
    case 'replace_refused':
      return `${event.event.replace('_', ' ')}: ${event.text}`;
    default:
      return event.event.replace('_', ' ');
  }
}
