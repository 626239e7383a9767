package run_test

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/photon-beam/beam/internal/log"
	"github.com/photon-beam/beam/internal/log/logtest"
)

// TestOnAChunkyLog passes the tests that read logs once more on one that yields
// its entries one by one.
func TestOnAChunkyLog(t *testing.T) {
	whole := newLog
	newLog = func() log.Log { return logtest.Chunky{Log: log.NewMemory()} }
	defer func() { newLog = whole }()
	for _, test := range []func(*testing.T){
		TestStrangeToolsEnd,
		TestAStopHoldsThoughAnotherProcessAnsweredFirst,
		TestARefusedUploadTakesNothingElseAway,
		TestAnAnswerThatFailsTakesNoEventsWithIt,
		TestListsAreInOrder,
		TestReplayFromEveryPrefix,
		TestAStepIsNotRepeated,
		TestRestartInterruptsWhatIsNotDurable,
		TestAChangedPhotonFailsAndSaysWhichCallDiffers,
		TestStopIsSeenSoon,
		TestTheTimeLimitStandsStillWhileAPersonThinks,
		TestAnAskOfItsOwnTimeExpires,
		TestEventsOfAFrameAreAppendedTogether,
		TestFinishedRunsAreKeptByCountAndAge,
		TestLimits,
		TestARunIsALogFromStartToResult,
		TestStartRefuses,
		TestAnswerRefuses,
		TestFirstAnswerWins,
		TestStrangersSeeNothing,
		TestCancelStopsTheGenerator,
		TestAToolThatIgnoresTheStopIsStoppedForEverybodyElse,
		TestHowToolsFail,
		TestIdempotencyKey,
		TestFilesReachTheGeneratorByTheBlobStore,
		TestSecretsAreNeverInTheLog,
		TestWhatIsLargeStandsBesideTheLog,
		TestCloseInterruptsWhatIsNotDurable,
		TestAWithdrawnQuestionFailsWithItsReason,
		TestWithdrawRefuses,
		TestARoundOfQuestionsIsMarkedInTheLog,
		TestAWorkerOfAnOlderEpochCantWrite,
		TestAWorkerSupersededInTheMiddleOfABatch,
		TestAnotherProcessMayAnswer,
	} {
		name := runtime.FuncForPC(reflect.ValueOf(test).Pointer()).Name()
		t.Run(name[strings.LastIndex(name, ".")+1:], test)
	}
}
