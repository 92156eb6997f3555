// The API counts windows in milliseconds, people in seconds.
export const toMilliseconds = (seconds: string): number => Math.round(Number(seconds) * 1000);
