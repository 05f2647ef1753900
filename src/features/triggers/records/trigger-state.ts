import { z } from 'zod';
import {
  defineRecord,
  enumColumn,
  type FieldsOf,
  integerColumn,
  jsonColumn,
  nullableColumn,
  textColumn,
  timestampColumn,
} from '../../../domain/record.ts';

/**
 * How far a trigger has looked. `moment`: the last moment that was decided, in milliseconds. `place`: the last event of
 * a transaction that was decided, and the positions of those before it that wait. `low`: the relayers whose balance was
 * low when it was last looked at. `none`: it is called from outside.
 */
const cursorSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('moment'), at: z.int() }),
  z.strictObject({
    kind: z.literal('place'),
    written: z.int(),
    position: z.int(),
    held: z.array(z.int()).exactOptional(),
  }),
  z.strictObject({ kind: z.literal('low'), relayers: z.array(z.string()) }),
  z.strictObject({ kind: z.literal('none') }),
]);

export type TriggerCursor = z.infer<typeof cursorSchema>;

/** Why a trigger does not fire: a person has paused it, or its calls threw again and again. */
const pausedSchema = z.enum(['person', 'throws']);

export const PAUSED_BY = pausedSchema.options;

const columns = {
  pluginId: textColumn,
  name: textColumn,
  /** Tells what it waits for from what an earlier trigger of this name waited for. */
  digest: textColumn,
  cursor: jsonColumn(cursorSchema),
  paused: nullableColumn(enumColumn(pausedSchema)),
  /** Since when it waits for this, or since it was resumed. Calls from before do not count as its throws. */
  since: timestampColumn,
  /** When an instance last looked for it. */
  lookedAt: timestampColumn,
  lastCall: nullableColumn(textColumn),
  /** Of which moment, or when. */
  lastAt: nullableColumn(timestampColumn),
  fired: integerColumn,
  /** Firings that were left out: the one before was still running, its rate was used up, or nobody ran at the time. */
  skipped: integerColumn,
  /** When its rate allows for a whole burst again. */
  rateAt: timestampColumn,
};

export const triggerRecord = defineRecord('triggers', columns, { key: ['pluginId', 'name'] });

/** Where a trigger stands. */
export interface TriggerState extends FieldsOf<typeof columns> {}

/** A call of a trigger. */
export interface TriggerCall {
  id: string;
  /** `trigger:<plugin>/<name>`. */
  keyId: string;
  key: string;
  /** Whether it waits for something, and holds no isolate. */
  isWaiting: boolean;
}

/** Who makes the calls of a trigger, as the audit, the log and `context.caller` name it. */
export function triggerKeyId(pluginId: string, name: string): string {
  return `trigger:${pluginId}/${name}`;
}
