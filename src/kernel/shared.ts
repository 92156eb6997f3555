// One answer for all who ask within a while.

/** Asks again when the last answer is older than `milliseconds`; whoever comes while it is being asked waits for it. */
export function shared<Answer>(milliseconds: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | null = null;
  return () => {
    if (answer) return answer;
    const asked = ask();
    answer = asked;
    const forget = () => {
      answer = null;
    };
    asked.then(() => setTimeout(forget, milliseconds).unref(), forget);
    return asked;
  };
}
