import { z } from 'zod';

/** A point in time in answers. */
export const moment = z.string().meta({
  description: 'Time (RFC 3339)',
  examples: ['2026-11-21T11:31:18.123456+00:00'],
});

/** A moment as answers and webhooks write it: RFC 3339 with offset `+00:00`, as the reference, never `Z`. */
export function wireTime(at: number): string {
  return `${new Date(at).toISOString().slice(0, -1)}+00:00`;
}
