// Records that gain and lose members all the time. The engine leaves the place of a deleted member unused when an
// assignment brings a new one, so that a name which comes and goes in a large record gets slower each time; setting it
// by reflection uses the place again, and costs the same at the hundred thousandth time as at the first.

export function put<T>(record: Record<string, T>, key: string, value: T): void {
  Reflect.set(record, key, value);
}
