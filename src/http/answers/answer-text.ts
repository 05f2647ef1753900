import { writeJson } from '../../domain/json/json-text.ts';
import { oncePerObject } from '../../domain/json/once-per-object.ts';

const written = oncePerObject(writeJson);

/**
 * Writes the body of an answer as JSON. A frozen object in the body, or in a list in it, is converted once. Later
 * answers reuse the text.
 */
export function answerText(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return writeJson(body);
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  return `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${fieldText(value)}`).join()}}`;
}

function fieldText(value: unknown): string {
  return Array.isArray(value) ? `[${value.map(itemText).join()}]` : itemText(value);
}

function itemText(value: unknown): string {
  const isKept = typeof value === 'object' && value !== null && Object.isFrozen(value);
  return isKept ? written(value) : writeJson(value ?? null);
}
